import type { Agent } from '../agent/agent.js';
import type { Scenario } from '../bench.js';
import { jobContenders } from '../contenders/index.js';
import { rateRow, ratiosOf } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { jobsOf } from '../sizes.js';

/** Size of the arguments of each job as JSON, in bytes. */
const bytes = 1_024;

/** Measures bulk enqueue and drain of jobs with larger arguments. */
export const payload: Scenario = {
  name: 'payload',
  isLeftOutOfSmoke: true,
  run: (bench) =>
    bench.withAgents(bench.among(jobContenders), async (...agents) => {
      const { sizes } = bench;
      const best = new Map<Agent, Readonly<Record<string, number>>>();
      for (const agent of agents) best.set(agent, await bestForDraining(agent, sizes));
      const samples = await bench.interleave(agents, async (agent) => {
        const jobs = jobsOf(agent.contender, sizes);
        const enqueued = await bench.sample(agent, jobs, () => agent.perform('enqueueMany', jobs, bytes));
        const drained = await bench.sample(agent, jobs, () =>
          agent.perform('drain', jobs, best.get(agent) ?? {}),
        );
        return { enqueued, drained };
      });
      const rowsOf = (phase: 'enqueued' | 'drained') =>
        agents.map((agent) =>
          rateRow(
            `${agent.contender}, ${phase}`,
            phase === 'drained' ? describe(best.get(agent) ?? {}) : '',
            (samples.get(agent) ?? []).map((sample) => sample[phase]),
          ),
        );
      const [enqueued, drained] = [rowsOf('enqueued'), rowsOf('drained')];
      return {
        title: `Jobs with ${bytes} bytes of arguments: ${sizes.jobs} a round (pg-boss and BullMQ ${sizes.slowJobs})`,
        rows: [...enqueued, ...drained],
        ratios: [...ratiosOf(enqueued), ...ratiosOf(drained)],
      };
    }),
};
