import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import { stepContenders } from '../contenders/index.js';
import { rateRow, ratiosOf, type Sample } from '../result.js';
import { bestForSteps, describe } from '../server-settings.js';
import { stepJobsOf, stepsPerJob } from '../sizes.js';

/**
 * Measures how fast one process runs jobs of ten durable steps each. A step does nothing and returns a number, which is
 * stored before the next step starts.
 */
export const steps: Scenario = {
  name: 'steps',
  isLeftOutOfSmoke: true,
  run: (bench) =>
    bench.withAgents(bench.among(stepContenders), async (...agents) => {
      const { sizes } = bench;
      const best = new Map<Agent, ServerSettings>();
      for (const agent of agents) best.set(agent, await bestForSteps(agent, sizes));
      const settingsOf = (agent: Agent): ServerSettings => best.get(agent) ?? {};
      const samples = await bench.interleave(agents, (agent) => sampleSteps(bench, agent, settingsOf(agent)));
      const rows = agents.map((agent) =>
        rateRow(agent.contender, describe(settingsOf(agent)), samples.get(agent) ?? [], 'step'),
      );
      return {
        title: `Steps: ${sizes.stepJobs} jobs a round (peers ${sizes.slowStepJobs}) of ${stepsPerJob} steps each, one process`,
        rows,
        ratios: ratiosOf(rows, { dbos: { atLeast: 3 }, absurd: { atLeast: 3 } }),
      };
    }),
};

async function sampleSteps(bench: Bench, agent: Agent, settings: ServerSettings): Promise<Sample> {
  const jobs = stepJobsOf(agent.contender, bench.sizes);
  await agent.perform('enqueueMany', jobs);
  return bench.sample(agent, jobs * stepsPerJob, () =>
    agent.perform('drainSteps', jobs, stepsPerJob, settings),
  );
}
