import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import { rateRow, ratioOf } from '../result.js';
import { perSecond } from '../statistics.js';

const settings = { longshore: 'one call', 'graphile-worker': 'calls of 5000', 'pg-boss': 'calls of 5000' };

/** Jobs with 20 bytes of arguments, all from one caller; the tables are never emptied. */
export const bulkEnqueue: Scenario = {
  name: 'bulk-enqueue',
  run: (bench) =>
    bench.withAgents(['longshore', 'graphile-worker', 'pg-boss'], async (...agents) => {
      for (const agent of agents) await agent.perform('enqueueMany', bench.sizes.sweepJobs); // warm-up
      const rates = await bench.interleave(agents, (agent) => enqueueRate(bench, agent));
      const [ours, graphile, boss] = agents.map((agent) =>
        rateRow(agent.contender, settings[agent.contender], 'jobs/s', rates.get(agent) ?? []),
      );
      if (!ours || !graphile || !boss) throw new RangeError('A contender is missing');
      return {
        title: `Bulk enqueue: ${bench.sizes.jobs} jobs a round (pg-boss ${bench.sizes.pgBossJobs}), 20 bytes of arguments`,
        rows: [ours, graphile, boss],
        ratios: [ratioOf(ours, graphile, { atLeast: 2 }), ratioOf(ours, boss)],
      };
    }),
};

async function enqueueRate(bench: Bench, agent: Agent): Promise<number> {
  const jobs = agent.contender === 'pg-boss' ? bench.sizes.pgBossJobs : bench.sizes.jobs;
  await bench.database.settle();
  return perSecond(jobs, await agent.perform('enqueueMany', jobs));
}
