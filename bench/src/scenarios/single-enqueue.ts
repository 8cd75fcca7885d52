import type { Scenario } from '../bench.js';
import { rateRow, ratioOf } from '../result.js';

const settings = { longshore: 'enqueue', 'graphile-worker': 'addJob', 'pg-boss': 'send' };

/** Measures concurrent callers that each enqueue one job and wait until it is durable, like requests of a web service. */
export const singleEnqueue: Scenario = {
  name: 'single-enqueue',
  run: (bench) =>
    bench.withAgents(['longshore', 'graphile-worker', 'pg-boss'], async (...agents) => {
      const { singleJobs, singleCallers } = bench.sizes;
      for (const agent of agents) await agent.perform('enqueueConcurrently', singleJobs / 10, singleCallers);
      const samples = await bench.interleave(agents, (agent) => {
        const jobs = agent.contender === 'longshore' ? singleJobs : singleJobs / 4;
        return bench.sample(agent, jobs, () => agent.perform('enqueueConcurrently', jobs, singleCallers));
      });
      const [ours, graphile, boss] = agents.map((agent) =>
        rateRow(agent.contender, settings[agent.contender], samples.get(agent) ?? []),
      );
      if (!ours || !graphile || !boss) throw new RangeError('A contender is missing');
      return {
        title: `Single enqueues: ${singleCallers} concurrent callers in one process, ${singleJobs} jobs a round (peers a quarter)`,
        rows: [ours, graphile, boss],
        ratios: [ratioOf(ours, graphile, { atLeast: 5 }), ratioOf(ours, boss)],
      };
    }),
};
