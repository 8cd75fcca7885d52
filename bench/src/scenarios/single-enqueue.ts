import { jobContenders } from '../contenders/index.js';
import type { Scenario } from '../bench.js';
import { rateRow, ratiosOf } from '../result.js';

/**
 * Measures concurrent callers. Each caller enqueues one job at a time and waits until the job is durable, like requests
 * to a web service.
 */
export const singleEnqueue: Scenario = {
  name: 'single-enqueue',
  run: (bench) =>
    bench.withAgents(bench.among(jobContenders), async (...agents) => {
      const { singleJobs, singleCallers } = bench.sizes;
      for (const agent of agents) await agent.perform('enqueueConcurrently', singleJobs / 10, singleCallers);
      const samples = await bench.interleave(agents, (agent) => {
        const jobs = agent.contender === 'longshore' ? singleJobs : singleJobs / 4;
        return bench.sample(agent, jobs, () => agent.perform('enqueueConcurrently', jobs, singleCallers));
      });
      const rows = agents.map((agent) => rateRow(agent.contender, '', samples.get(agent) ?? []));
      return {
        title: `Single enqueues: ${singleCallers} concurrent callers in one process, ${singleJobs} jobs a round (peers a quarter)`,
        rows,
        ratios: ratiosOf(rows, { 'graphile-worker': { atLeast: 5 } }),
      };
    }),
};
