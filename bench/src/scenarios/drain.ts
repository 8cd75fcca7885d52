import type { Agent } from '../agent/agent.js';
import type { Scenario } from '../bench.js';
import type { ServerSettings } from '../contenders/contender.js';
import { rateRow, ratioOf } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { drainSample } from './drain-sample.js';

/**
 * Measures how fast one process runs jobs that do nothing. Longshore and pg-boss keep finished jobs; graphile-worker
 * deletes them.
 */
export const drain: Scenario = {
  name: 'drain',
  run: (bench) =>
    bench.withAgents(['longshore', 'graphile-worker', 'pg-boss'], async (...agents) => {
      const { sizes } = bench;
      const best = new Map<Agent, ServerSettings>();
      for (const agent of agents) best.set(agent, await bestForDraining(agent, sizes));
      const settingsOf = (agent: Agent): ServerSettings => best.get(agent) ?? {};
      const samples = await bench.interleave(agents, (agent) =>
        drainSample(
          bench,
          agent,
          settingsOf(agent),
          agent.contender === 'pg-boss' ? sizes.pgBossJobs : sizes.jobs,
        ),
      );
      const [ours, graphile, boss] = agents.map((agent) =>
        rateRow(agent.contender, describe(settingsOf(agent)), samples.get(agent) ?? []),
      );
      if (!ours || !graphile || !boss) throw new RangeError('A contender is missing');
      return {
        title: `Drain: ${sizes.jobs} no-op jobs a round (pg-boss ${sizes.pgBossJobs}), one process`,
        rows: [ours, graphile, boss],
        ratios: [ratioOf(ours, graphile, { atLeast: 2 }), ratioOf(ours, boss)],
      };
    }),
};
