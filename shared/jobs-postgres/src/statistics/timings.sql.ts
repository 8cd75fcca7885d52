import { prepared } from '../connection/statement.js';

/**
 * Adds timings to the stored ones, unless this batch has been added before. $1 id of the process, $2 number of the
 * batch. Then parallel arrays, sorted by key so that servers lock rows in the same order: $3 queues, $4 names, $5
 * resolutions in seconds, $6 times in milliseconds since 1970, $7 done, $8 failed, $9 retried, $10 to $12 histograms
 * of waiting, ready and running times as array literals, $13 to $15 the sums of these times in milliseconds.
 */
export const addTimings = prepared(
  'longshore-add-timings',
  `
    with advanced as (
      insert into longshore.timing_writer as last (id, batch) values ($1, $2::integer)
      on conflict (id) do update set batch = excluded.batch, written_at = now() where last.batch < excluded.batch
      returning 1
    )
    insert into longshore.timing as stored
      (queue_id, name, seconds, at, done, failed, retried, waiting, ready, running, waited_ms, ready_ms, ran_ms)
    select queue_id, name, seconds, to_timestamp(ms / 1000), done, failed, retried, waiting::integer[], ready::integer[],
      running::integer[], waited_ms, ready_ms, ran_ms
    from unnest($3::integer[], $4::text[], $5::smallint[], $6::float8[], $7::integer[], $8::integer[], $9::integer[], $10::text[],
      $11::text[], $12::text[], $13::float8[], $14::float8[], $15::float8[])
      as recorded (queue_id, name, seconds, ms, done, failed, retried, waiting, ready, running, waited_ms, ready_ms, ran_ms)
    where exists (select 1 from advanced)
    on conflict (queue_id, name, seconds, at) do update set
      done = stored.done + excluded.done,
      failed = stored.failed + excluded.failed,
      retried = stored.retried + excluded.retried,
      waiting = longshore.add_histograms(stored.waiting, excluded.waiting),
      ready = longshore.add_histograms(stored.ready, excluded.ready),
      running = longshore.add_histograms(stored.running, excluded.running),
      waited_ms = stored.waited_ms + excluded.waited_ms,
      ready_ms = stored.ready_ms + excluded.ready_ms,
      ran_ms = stored.ran_ms + excluded.ran_ms`,
);

/**
 * $1 names, $2 maximum number of names. Adds new names until the maximum is reached. Returns the given names that have
 * separate timings.
 */
export const addTimedNames = prepared(
  'longshore-add-timed-names',
  `
    with known as (
      update longshore.timed_name set seen_at = now() where name = any ($1::text[]) returning name
    ),
    added as (
      insert into longshore.timed_name (name)
      select wanted.name from unnest($1) as wanted (name)
      where not exists (select 1 from longshore.timed_name where name = wanted.name)
      limit greatest(0, $2::integer - (select count(*) from longshore.timed_name))
      on conflict (name) do nothing
      returning name
    )
    select name from known union all select name from added`,
);

export interface TimingRow {
  /** Milliseconds since 1970. */
  at: number;
  name: string;
  done: number;
  failed: number;
  retried: number;
  /**
   * Histogram of waiting times as an array literal: the index of the first bucket, then the counts. `ready` and `running` have
   * the same format.
   */
  waiting: string;
  ready: string;
  running: string;
  waited_ms: number;
  ready_ms: number;
  ran_ms: number;
  backlog: string | null;
}

const columns = `extract(epoch from at)::float8 * 1000 as at, name, done, failed, retried, waiting::text, ready::text, running::text,
      waited_ms, ready_ms, ran_ms, backlog`;

/** $1 queue, $2 name, $3 resolution in seconds, $4 start and $5 end in milliseconds since 1970. */
export const selectTimings = prepared(
  'longshore-select-timings',
  `
    select ${columns} from longshore.timing
    where queue_id = $1 and name = $2 and seconds = $3 and at >= to_timestamp($4::float8 / 1000)
      and at < to_timestamp($5::float8 / 1000)`,
);

/**
 * $1 resolution in seconds, $2 start and $3 end in milliseconds since 1970. Returns the times at which the backlog was
 * measured.
 */
export const selectMeasured = prepared(
  'longshore-select-measured',
  `
    select extract(epoch from at)::float8 * 1000 as at from longshore.timing
    where queue_id = 0 and name = '' and seconds = $1 and at >= to_timestamp($2::float8 / 1000)
      and at < to_timestamp($3::float8 / 1000) and backlog is not null`,
);

/**
 * $1 queue, $2 resolution in seconds, $3 start in milliseconds since 1970, $4 maximum number of names. Returns the
 * timings of the job names with the most attempts.
 */
export const selectNameTimings = prepared(
  'longshore-select-name-timings',
  `
    with busiest as materialized (
      select name from longshore.timing
      where queue_id = $1 and seconds = $2 and at >= to_timestamp($3::float8 / 1000) and name <> ''
      group by name having sum(done + failed + retried) > 0 or max(cardinality(waiting)) > 0
      order by sum(done + failed + retried) desc, name limit $4
    )
    select ${columns} from longshore.timing
    where queue_id = $1 and name = any (array(select name from busiest)) and seconds = $2
      and at >= to_timestamp($3::float8 / 1000)`,
);

/**
 * $1 queue, $2 names, $3 start of the hours and $4 start of the minutes in milliseconds since 1970. Returns the hours
 * before the minutes and the minutes, oldest first. Measurements of the backlog alone are left out.
 */
export const selectHistories = prepared(
  'longshore-select-histories',
  `
    select ${columns}, seconds from longshore.timing
    where queue_id = $1 and name = any ($2::text[]) and seconds = 3600 and at >= to_timestamp($3::float8 / 1000)
      and at < to_timestamp($4::float8 / 1000) and (done + failed + retried > 0 or waiting <> '{}')
    union all
    select ${columns}, seconds from longshore.timing
    where queue_id = $1 and name = any ($2::text[]) and seconds = 60 and at >= to_timestamp($4::float8 / 1000)
      and (done + failed + retried > 0 or waiting <> '{}')
    order by at`,
);

/**
 * Stores the number of ready or blocked jobs, in total and for each queue that has any. Only the first call in each
 * minute stores these numbers; later calls write nothing and return no row.
 */
export const measureBacklog = prepared(
  'longshore-measure-backlog',
  `
    with enqueued as materialized (
      select queue_id, sum(jobs)::bigint as jobs from longshore.job_count where state = 'enqueued' and queue_id > 0
      group by queue_id having sum(jobs) > 0
    ),
    first as (
      insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
      select 0, '', 60, date_bin('1 minute', now(), 'epoch'), coalesce((select sum(jobs) from enqueued), 0)
      on conflict (queue_id, name, seconds, at) do update set backlog = excluded.backlog where stored.backlog is null
      returning stored.backlog
    ),
    others as (
      insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
      select queue_id, '', seconds, date_bin(seconds * interval '1 second', now(), 'epoch'), jobs
      from (
        select 0 as queue_id, 3600 as seconds, backlog as jobs from first
        union all select queue_id, seconds, jobs from enqueued, (values (60), (3600)) as resolution (seconds)
      ) as measured
      where exists (select 1 from first)
      order by queue_id, seconds
      on conflict (queue_id, name, seconds, at) do update set backlog = greatest(stored.backlog, excluded.backlog)
    )
    select backlog from first`,
);

/**
 * $1 share of the pages of `job` and `job_blocked` to read, in percent. Stores the estimated number of ready and
 * blocked jobs per name, for names with separate timings.
 */
export const measureNames = prepared(
  'longshore-measure-names',
  `
    with found as materialized (
      select queue_id, name, ceil(count(*) * 100 / $1::float8)::bigint as jobs
      from (
        select queue_id, name from longshore.job tablesample system ($1::real) where server_id is null and queue_id > 0
        union all
        select queue_id, name from longshore.job_blocked tablesample system ($1::real) where queue_id > 0
      ) as enqueued
      where name in (select name from longshore.timed_name)
      group by queue_id, name
    )
    insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
    select queue_id, name, seconds, date_bin(seconds * interval '1 second', now(), 'epoch'), jobs
    from (
      select queue_id, name, jobs from found
      union all select 0, name, sum(jobs)::bigint from found group by name
    ) as measured, (values (60), (3600)) as resolution (seconds)
    order by queue_id, name, seconds
    on conflict (queue_id, name, seconds, at) do update set backlog = greatest(stored.backlog, excluded.backlog)`,
);

/** Returns the number of pages of the tables that {@link measureNames} samples. */
export const selectReadyPages = prepared(
  'longshore-select-ready-pages',
  pagesBy('pg_relation_size'),
  pagesBy('citus_relation_size'),
);

/** @param sizeOf the function that returns the size of a table */
function pagesBy(sizeOf: string): string {
  return `
    select ((${sizeOf}('longshore.job') + ${sizeOf}('longshore.job_blocked'))
      / current_setting('block_size')::integer)::integer as pages`;
}

/**
 * $1 retention of timings per minute, $2 retention of timings per hour, in milliseconds. Deletes older timings, names
 * that have not been used for as long as $2, and records of processes that have stored nothing for a day.
 */
export const deleteOldTimings = prepared(
  'longshore-delete-old-timings',
  `
    with forgotten as (
      delete from longshore.timed_name where seen_at < now() - $2::float8 * interval '1 millisecond'
    ),
    ended as (
      delete from longshore.timing_writer where written_at < now() - interval '1 day'
    )
    delete from longshore.timing
    where at < now() - case when seconds = 60 then $1::float8 else $2::float8 end * interval '1 millisecond'`,
);
