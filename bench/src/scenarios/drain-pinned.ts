import type { Scenario } from '../bench.js';
import { connected } from '../database.js';
import { rateRow } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import { drainRate } from './drain-rate.js';

/**
 * Somebody forgot a transaction: no dead row that is younger can be cleared away. Whatever searches past the dead rows of
 * finished jobs becomes slower from round to round.
 */
export const drainPinned: Scenario = {
  name: 'drain-pinned',
  run: (bench) =>
    bench.withAgents(['longshore'], async (agent) => {
      if (!agent) throw new RangeError('A contender is missing');
      const settings = await bestForDraining(agent, bench.sizes.sweepJobs);
      await drainRate(bench, agent, settings); // warm-up
      const rates = await connected(agent.url, async (client) => {
        await client.query('begin isolation level repeatable read');
        await client.query('select count(*) from longshore.queue'); // a snapshot, and with it an xmin
        const rates: number[] = [];
        for (let round = 0; round < 5; round++) rates.push(await drainRate(bench, agent, settings));
        await client.query('rollback');
        return rates;
      });
      const value = (rates.at(-1) ?? NaN) / (rates[0] ?? NaN);
      return {
        title: `Drain while a transaction stays open: ${bench.sizes.jobs} jobs a round`,
        rows: [rateRow('longshore', describe(settings), 'jobs/s', rates)],
        ratios: [{ name: 'last round / first round', value, target: { atLeast: 0.9 } }],
      };
    }),
};
