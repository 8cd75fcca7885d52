import type { ContenderName } from '../contenders/index.js';
import { jobContenders } from '../contenders/index.js';
import type { Scenario } from '../bench.js';
import { rateRow, ratiosOf } from '../result.js';
import { jobsOf } from '../sizes.js';

const settings = (contender: ContenderName): string =>
  contender === 'longshore' ? 'one call' : 'calls of 5000';

/** Measures how fast one caller enqueues jobs with 20 bytes of arguments. The tables are not emptied between rounds. */
export const bulkEnqueue: Scenario = {
  name: 'bulk-enqueue',
  run: (bench) =>
    bench.withAgents(bench.among(jobContenders), async (...agents) => {
      const { sizes } = bench;
      for (const agent of agents) await agent.perform('enqueueMany', sizes.sweepJobs); // warm-up
      const samples = await bench.interleave(agents, (agent) => {
        const jobs = jobsOf(agent.contender, sizes);
        return bench.sample(agent, jobs, () => agent.perform('enqueueMany', jobs));
      });
      const rows = agents.map((agent) =>
        rateRow(agent.contender, settings(agent.contender), samples.get(agent) ?? []),
      );
      return {
        title: `Bulk enqueue: ${sizes.jobs} jobs a round (pg-boss and BullMQ ${sizes.slowJobs}), 20 bytes of arguments`,
        rows,
        ratios: ratiosOf(rows, { 'graphile-worker': { atLeast: 2 } }),
      };
    }),
};
