import type { Agent } from '../agent/agent.js';
import type { Scenario } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import { jobContenders } from '../contenders/index.js';
import { rateRow, ratiosOf } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { jobsOf } from '../sizes.js';
import { drainSample } from './drain-sample.js';

/** Measures how fast one process runs no-op jobs. All contenders except graphile-worker keep finished jobs. */
export const drain: Scenario = {
  name: 'drain',
  run: (bench) =>
    bench.withAgents(bench.among(jobContenders), async (...agents) => {
      const { sizes } = bench;
      const best = new Map<Agent, ServerSettings>();
      for (const agent of agents) best.set(agent, await bestForDraining(agent, sizes));
      const settingsOf = (agent: Agent): ServerSettings => best.get(agent) ?? {};
      const samples = await bench.interleave(agents, (agent) =>
        drainSample(bench, agent, settingsOf(agent), jobsOf(agent.contender, sizes)),
      );
      const rows = agents.map((agent) =>
        rateRow(agent.contender, describe(settingsOf(agent)), samples.get(agent) ?? []),
      );
      return {
        title: `Drain: ${sizes.jobs} no-op jobs a round (pg-boss and BullMQ ${sizes.slowJobs}), one process`,
        rows,
        ratios: ratiosOf(rows, { 'graphile-worker': { atLeast: 2 } }),
      };
    }),
};
