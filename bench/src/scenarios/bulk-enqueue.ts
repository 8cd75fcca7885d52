import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import { rateRow, ratioOf, type Sample } from '../result.js';

const settings = { longshore: 'one call', 'graphile-worker': 'calls of 5000', 'pg-boss': 'calls of 5000' };

/** Enqueues jobs with 20 bytes of arguments from one caller; the tables are never emptied. */
export const bulkEnqueue: Scenario = {
  name: 'bulk-enqueue',
  run: (bench) =>
    bench.withAgents(['longshore', 'graphile-worker', 'pg-boss'], async (...agents) => {
      for (const agent of agents) await agent.perform('enqueueMany', bench.sizes.sweepJobs); // warm-up
      const samples = await bench.interleave(agents, (agent) => enqueueSample(bench, agent));
      const [ours, graphile, boss] = agents.map((agent) =>
        rateRow(agent.contender, settings[agent.contender], samples.get(agent) ?? []),
      );
      if (!ours || !graphile || !boss) throw new RangeError('A contender is missing');
      return {
        title: `Bulk enqueue: ${bench.sizes.jobs} jobs a round (pg-boss ${bench.sizes.pgBossJobs}), 20 bytes of arguments`,
        rows: [ours, graphile, boss],
        ratios: [ratioOf(ours, graphile, { atLeast: 2 }), ratioOf(ours, boss)],
      };
    }),
};

function enqueueSample(bench: Bench, agent: Agent): Promise<Sample> {
  const jobs = agent.contender === 'pg-boss' ? bench.sizes.pgBossJobs : bench.sizes.jobs;
  return bench.sample(agent, jobs, () => agent.perform('enqueueMany', jobs));
}
