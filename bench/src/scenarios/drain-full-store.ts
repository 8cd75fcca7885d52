import type { Scenario } from '../bench.js';
import { connected } from '../database.js';
import { rateRow, ratioOf } from '../result.js';
import { bestForDraining, describe } from '../server-settings.js';
import type { Sizes } from '../sizes.js';
import { drainSample } from './drain-sample.js';

/** Compares the same drain on an empty store and on a store with many finished and scheduled jobs. */
export const drainFullStore: Scenario = {
  name: 'drain-full-store',
  run: (bench) =>
    bench.withAgents(['longshore', 'longshore'], async (empty, full) => {
      if (!empty || !full) throw new RangeError('A contender is missing');
      const { sizes } = bench;
      bench.note(`filling a store with ${sizes.finishedJobs + sizes.scheduledJobs} jobs`);
      await fill(full.url, sizes);
      const settings = await bestForDraining(empty, sizes);
      const warmUp = [empty, full];
      for (const agent of warmUp) await drainSample(bench, agent, settings, sizes.sweepJobs);
      const samples = await bench.interleave([empty, full], (agent) => drainSample(bench, agent, settings));
      const text = describe(settings);
      const emptyRow = rateRow('empty store', text, samples.get(empty) ?? []);
      const fullRow = rateRow('full store', text, samples.get(full) ?? []);
      return {
        title: `Drain with ${sizes.finishedJobs} finished and ${sizes.scheduledJobs} scheduled jobs present`,
        rows: [fullRow, emptyRow],
        ratios: [ratioOf(fullRow, emptyRow, { atLeast: 0.9 })],
      };
    }),
};

/**
 * Writes rows of finished and scheduled jobs, with matching counters. Half of the finished jobs ended today and half
 * yesterday. Yesterday's indexes have not been built yet.
 */
async function fill(url: string, { finishedJobs, scheduledJobs }: Sizes): Promise<void> {
  await connected(url, async (client) => {
    await client.query('set search_path to longshore, pg_catalog');
    await client.query(`insert into queue (name) values ('default') on conflict do nothing`);
    await client.query(
      `insert into job_history_done (queue_id, id, created_at, ready_at, started_at, finished_at, server_id,
          priority, attempt, max_attempts, name, args)
        select queue.id, uuidv7(finished - now()), finished, finished, finished, finished, gen_random_uuid(),
          0, 1, 10, 'bench', jsonb_build_object('n', 10000000000000 + n)
        from queue, generate_series(1, $1::integer) as n,
          lateral (select date_trunc('day', now(), 'UTC') as midnight) as today,
          lateral (
            select case when n % 2 = 0 then midnight + n * (now() - midnight) / $1::integer
              else midnight - n * interval '1 day' / $1::integer end as finished
          ) as time
        where queue.name = 'default'`,
      [finishedJobs],
    );
    await client.query(
      `insert into job_scheduled (queue_id, id, run_at, max_attempts, name, args)
        select queue.id, uuidv7(), now() + interval '1 day' + n * interval '1 s', 10, 'bench',
          jsonb_build_object('n', 10000000000000 + n)
        from queue, generate_series(1, $1::integer) as n where queue.name = 'default'`,
      [scheduledJobs],
    );
    await client.query(
      `insert into job_count (queue_id, state, jobs)
        select queue.id, state, jobs
        from queue, (values ('done'::job_state, $1::bigint), ('scheduled', $2::bigint)) as present (state, jobs)
        where queue.name = 'default'`,
      [finishedJobs, scheduledJobs],
    );
    await client.query('vacuum analyze');
  });
}
