import type pg from 'pg';

/** Number of one-minute buckets in the retention period of 31 hours. */
const minutes = 31 * 60;
/** Number of one-hour buckets in the retention period of 31 days. */
const hours = 31 * 24;

/**
 * Fills the timings as if the store had been in use for a month. Writes one-minute and one-hour buckets for all jobs
 * together, for each job name, for the first 50 queues, and for 20 names in each of the first 10 queues. Writes only
 * one-hour buckets for the other queues. Keeps timings that already exist.
 */
export async function fillTimings(
  client: pg.Client,
  { queues, names }: { readonly queues: number; readonly names: number },
): Promise<void> {
  const ofQueues = Math.min(queues, 50);
  const ofNames = Math.min(names, 20);
  await client.query(
    `insert into timed_name (name) select 'name-' || n from generate_series(0, $1::integer - 1) as n`,
    [names],
  );
  await client.query(
    `insert into timing (queue_id, name, seconds, at, done, failed, retried, waiting, running, waited_ms, ran_ms, backlog)
      select queue_id, name, seconds, at, seconds, seconds / 60, seconds / 30,
        array[24 + size % 9, 3, 9, 20, 31, 17, 8, 4, 1, 1], array[40 + size % 7, 1, 6, 14, 25, 30, 12, 5, 2, 1, 1, 1],
        94 * 80, 98 * 600, case when name = '' then 100 + size end
      from (
        select 0 as queue_id, '' as name, true as by_minute
        union all select 0, 'name-' || n, true from generate_series(0, $2::integer - 1) as n
        union all select n, '', n <= $3 from generate_series(1, $1::integer) as n
        union all select queue, 'name-' || n, true
          from generate_series(1, least($3::integer, 10)) as queue, generate_series(0, $4::integer - 1) as n
      ) as series
      cross join lateral (
        select 60::smallint as seconds, date_trunc('minute', now()) - n * interval '1 minute' as at, n as size
        from generate_series(0, $5::integer - 1) as n where by_minute
        union all
        select 3600::smallint, date_trunc('hour', now()) - n * interval '1 hour', n from generate_series(0, $6::integer - 1) as n
      ) as bucket
      on conflict do nothing`,
    [queues, names, ofQueues, ofNames, minutes, hours],
  );
}
