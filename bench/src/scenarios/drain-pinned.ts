import type { Scenario } from '../bench.js';
import { connected } from '../database.js';
import { rateRow, type Sample } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { drainSample } from './drain-sample.js';

/**
 * Measures drains while a forgotten transaction keeps vacuum from removing dead rows. If anything scans the dead rows
 * of finished jobs, each round is slower than the previous one.
 */
export const drainPinned: Scenario = {
  name: 'drain-pinned',
  run: (bench) =>
    bench.withAgents(['longshore'], async (agent) => {
      if (!agent) throw new RangeError('A contender is missing');
      const settings = await bestForDraining(agent, bench.sizes);
      await drainSample(bench, agent, settings); // warm-up
      const samples = await connected(agent.url, async (client) => {
        await client.query('begin isolation level repeatable read');
        await client.query('select count(*) from longshore.queue'); // takes a snapshot that holds back vacuum
        const samples: Sample[] = [];
        for (let round = 0; round < 5; round++) samples.push(await drainSample(bench, agent, settings));
        await client.query('rollback');
        return samples;
      });
      const value = (samples.at(-1)?.perSecond ?? NaN) / (samples[0]?.perSecond ?? NaN);
      return {
        title: `Drain while a transaction stays open: ${bench.sizes.jobs} jobs a round`,
        rows: [rateRow('longshore', describe(settings), samples)],
        ratios: [{ name: 'last round / first round', value, target: { atLeast: 0.9 } }],
      };
    }),
};
