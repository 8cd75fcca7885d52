import { prepared, type Statement } from '../connection/statement.js';
import { lastError } from '../jobs/job-columns.sql.js';
import { startOfDay } from '../search/search-history.sql.js';

/** Jobs with the same name that failed with the same kind of error. */
export interface ErrorGroupRow {
  name: string;
  /** The id of the job that failed last. */
  id: string;
  error_name: string;
  message: string;
  first_at: Date;
  last_at: Date;
  /** The number of jobs in the group. Counting stops at `most` + 1. */
  jobs: number;
  most: number;
  /** `false` if the maximum number of kinds was reached. Other kinds may then be missing. */
  complete: boolean;
}

/** Assumed maximum error of this process's estimate of the database's clock, in milliseconds. */
const clocksDifferMs = 3_600_000;

/**
 * Limits on counting jobs. Every kind of error is counted up to `fewJobs`. A larger kind is counted up to `maxJobs`,
 * and all larger kinds together up to about `allJobs`.
 */
export const fewJobs = 100;
const maxJobs = 2_000;
export const allJobs = 10_000;

const kindOf = 'longshore.error_kind(error)';

/**
 * Returns the CTEs `step` and `kind`. `kind` has one row for each job name and kind of error among the failures on
 * these days. $2 maximum number of kinds, $3 maximum number of kinds per name. Jumps from kind to kind in the index
 * instead of reading every failure.
 */
function kindsIn(days: string): string {
  return `step as (
      (
        select name, ${kindOf} as kind, 1 as nth, 1 as steps from longshore.job_history_failed where ${days}
        order by name, ${kindOf} limit 1
      )
      union all
      select next.name, next.kind, case when next.name = step.name then step.nth + 1 else 1 end, step.steps + 1
      from step cross join lateral (
        select name, ${kindOf} as kind from longshore.job_history_failed
        where ${days} and (name, ${kindOf})
          > (step.name, case when step.nth < $3::integer then step.kind else 9223372036854775807 end)
        order by name, ${kindOf} limit 1
      ) as next
      where step.steps < $2::integer
    ),
    kind as materialized (select * from step where kind is not null)`;
}

/**
 * Returns the start and end of the days that contain all failures of the last `sinceMs` milliseconds. `days` is an SQL
 * condition that excludes the partitions of other days.
 */
function daysSince(sinceMs: number, now: Date): { first: string; end: string; days: string } {
  const first = startOfDay(new Date(now.getTime() - sinceMs - clocksDifferMs)).toISOString();
  const end = startOfDay(now, 2).toISOString();
  return {
    first,
    end,
    days: `finished_at >= '${first}'::timestamptz and finished_at < '${end}'::timestamptz`,
  };
}

/** Returns the `from` and `where` clauses for the failures of `kind` in the last $1 milliseconds. */
function recentOf(days: string): string {
  return `
      from longshore.job_history_failed
      where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
        and name = kind.name and ${kindOf} = kind.kind`;
}

/**
 * Returns a query for `first_at`, the time of the earliest stored failure of `kind`. `end` excludes the partitions of
 * later days.
 */
function earliestOf(end: string): string {
  return `
      select finished_at as first_at from longshore.job_history_failed
      where finished_at < '${end}'::timestamptz and name = kind.name and ${kindOf} = kind.kind
      order by finished_at limit 1`;
}

/**
 * Returns CTEs with the kinds of errors in the last $1 milliseconds, for Citus: all failures of the period are grouped,
 * instead of stepping from kind to kind through the index. For each kind, they contain the number of failures in that
 * period, the time of the last one, and the time of the first failure that is still stored. $2 maximum number of kinds, $3
 * maximum number of kinds per name.
 */
const kindsOnNodes = (days: string): string => `
    kind as materialized (
      select name, ${kindOf} as kind, count(*)::integer as jobs, max(finished_at) as last_at
      from longshore.job_history_failed
      where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
      group by name, ${kindOf}
    ),
    numbered as materialized (
      select kind.*, row_number() over (partition by name order by kind) as nth from kind
    ),
    chosen as materialized (select * from numbered where nth <= $3::integer order by name, kind limit $2::integer),
    earliest as materialized (
      select name, kind, min(first_at) as first_at from (
        select failed.name, failed.kind, failed.first_at from (
          select name, ${kindOf} as kind, min(finished_at) as first_at from longshore.job_history_failed
          where name in (select name from chosen) group by name, ${kindOf}
        ) as failed
      ) as failed group by name, kind
    )`;

/**
 * Groups the failures of the last $1 milliseconds by job name and kind of error. $2 maximum number of kinds, $3 maximum
 * number of kinds per name.
 *
 * Counts each kind separately, so that a flood of one kind does not hide the others. The range of days is part of the
 * text, so Postgres skips other partitions. Only the search for the first occurrence covers all days. The statement is
 * prepared, because planning takes longer than running.
 *
 * @param now the current time, by the database's clock
 */
export function selectErrorGroups(sinceMs: number, now: Date): Statement {
  const { first, end, days } = daysSince(sinceMs, now);
  const alike = recentOf(days);
  return {
    name: `longshore-select-error-groups-${first.slice(0, 10)}-${end.slice(0, 10)}`,
    text: `
    with recursive ${kindsIn(days)},
    counted as materialized (
      select kind.*, few.jobs from kind
      cross join lateral (select count(*)::integer as jobs from (select ${alike} limit ${fewJobs + 1}) as seen) as few
    ),
    bound as materialized (
      select greatest(${fewJobs}, least(${maxJobs}, ${allJobs} / greatest(large, 1) / 100 * 100)) as most, complete
      from (
        select count(*) filter (where jobs > ${fewJobs}) as large,
          count(*) < $2 and coalesce(max(nth), 0) < $3 as complete
        from counted
      ) as sizes
    )
    select kind.name, latest.*, earliest.*, seen.*, bound.most::integer as most, bound.complete
    from bound
    cross join counted as kind
    cross join lateral (
      select id, coalesce(error ->> 'name', '') as error_name, left(error ->> 'message', 1000) as message,
        finished_at as last_at ${alike}
      order by finished_at desc limit 1
    ) as latest
    cross join lateral (${earliestOf(end)}
    ) as earliest
    cross join lateral (
      select case when kind.jobs <= ${fewJobs} or bound.most = ${fewJobs} then kind.jobs
        else (select count(*)::integer from (select ${alike} limit (select most + 1 from bound)) as seen) end as jobs
    ) as seen`,
    citus: `
    with ${kindsOnNodes(days)},
    bound as materialized (
      select greatest(100, least(2000, 10000 / greatest(large, 1) / 100 * 100)) as most, complete
      from (
        select count(*) filter (where jobs > 100) as large, count(*) < $2 and coalesce(max(nth), 0) < $3 as complete from chosen
      ) as sizes
    ),
    latest as materialized (
      select distinct on (name, kind) name, kind, id, error_name, message, last_at
      from (
        select name, ${kindOf} as kind, id, coalesce(error ->> 'name', '') as error_name, left(error ->> 'message', 1000) as message,
          finished_at as last_at
        from longshore.job_history_failed
        where ${days} and (name, finished_at) in (select name, last_at from chosen)
      ) as last order by name, kind, last_at desc
    )
    select chosen.name, latest.id, latest.error_name, latest.message, latest.last_at, earliest.first_at,
      (case when chosen.jobs <= 100 then chosen.jobs else least(chosen.jobs, bound.most + 1) end)::integer as jobs, bound.most::integer as most,
      bound.complete
    from bound
    cross join chosen
    join latest on latest.name = chosen.name and latest.kind = chosen.kind
    join earliest on earliest.name = chosen.name and earliest.kind = chosen.kind`,
  };
}

/** How many jobs failed with a kind of error in one time interval. */
export interface FailureBucketRow {
  name: string;
  fingerprint: string;
  /** The place of the interval, from 0. */
  bucket: number;
  /** Counting stops at one more than the maximum. */
  jobs: number;
}

/**
 * Counts the failures of kinds of errors over time. Parallel arrays: $2 job names, $3 error fingerprints, $4 maximum
 * number of jobs to count in a bucket. $1 maximum age of a failure in milliseconds, $5 start of the first bucket in
 * milliseconds since 1970, $6 length of a bucket in milliseconds, $7 number of buckets. Buckets without failures have no
 * row. Does one index lookup per kind and bucket.
 *
 * @param now the current time, by the database's clock
 */
export function selectFailureBuckets(sinceMs: number, now: Date): Statement {
  const { first, end, days } = daysSince(sinceMs, now);
  const at = (place: string): string => `to_timestamp(($5::float8 + (${place}) * $6::float8) / 1000)`;
  return {
    name: `longshore-select-failure-buckets-${first.slice(0, 10)}-${end.slice(0, 10)}`,
    text: `
    select wanted.name, wanted.fingerprint, bucket, counted.jobs
    from unnest($2::text[], $3::text[], $4::integer[]) as wanted (name, fingerprint, most)
    cross join generate_series(0, $7::integer - 1) as bucket
    cross join lateral (
      select count(*)::integer as jobs from (
        select from longshore.job_history_failed
        where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
          and name = wanted.name and ${kindOf} = hashtextextended(wanted.fingerprint, 0)
          and finished_at >= ${at('bucket')} and finished_at < ${at('bucket + 1')}
        limit wanted.most + 1
      ) as seen
    ) as counted
    where counted.jobs > 0`,
    citus: `
    with wanted as materialized (
      select name, fingerprint, hashtextextended(fingerprint, 0) as kind, most
      from unnest($2::text[], $3::text[], $4::integer[]) as wanted (name, fingerprint, most)
    ),
    counted as materialized (
      select name, ${kindOf} as kind,
        floor((extract(epoch from finished_at) * 1000 - $5::float8) / $6::float8)::integer as bucket, count(*)::integer as jobs
      from longshore.job_history_failed
      where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
        and (name, ${kindOf}) in (select name, kind from wanted)
      group by 1, 2, 3
    )
    select wanted.name, wanted.fingerprint, counted.bucket, least(counted.jobs, wanted.most + 1) as jobs
    from wanted join counted on counted.name = wanted.name and counted.kind = wanted.kind
    where counted.bucket >= 0 and counted.bucket < $7::integer`,
  };
}

/** A job that failed and is waiting for its next attempt. */
export interface RetryingRow {
  id: string;
  name: string;
  error_name: string;
  message: string;
  at: Date;
}

/**
 * $1 milliseconds, $2 limit. Selects jobs that failed in the last $1 milliseconds and are waiting for another attempt,
 * latest failure first.
 */
export const selectRetrying = prepared(
  'longshore-select-retrying',
  `
    select id, name, coalesce((${lastError}) ->> 'name', '') as error_name, left((${lastError}) ->> 'message', 1000) as message,
      retried_at as at
    from longshore.job_scheduled
    where retried_at >= now() - $1::float8 * interval '1 millisecond' and (${lastError}) ->> 'message' is not null
    order by retried_at desc limit $2`,
);

/** The end of a statement with the CTE `occurred`: records the kinds of errors in it. */
const occurredRecorded = `current as (
      select name, kind, min(first_at) as first_at, max(last_at) as last_at from occurred group by name, kind
    )
    insert into longshore.first_failure as known (name, kind, first_at, last_at)
    select name, kind, first_at, last_at from current
    where not exists (
      select 1 from longshore.first_failure as recorded
      where recorded.name = current.name and recorded.kind = current.kind
        and recorded.first_at <= current.first_at and recorded.last_at > current.last_at - interval '1 hour'
    )
    order by name, kind
    on conflict (name, kind) do update set
      first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at)`;

/**
 * Records when each kind of error of the last $1 milliseconds was first and last seen. $2 maximum number of kinds, $3
 * maximum number of kinds per name, $4 maximum number of examined jobs that are waiting for another attempt. Leaves a
 * record unchanged if its first time is still correct and its last time is less than an hour out of date.
 *
 * @param now the current time, by the database's clock
 */
export function recordFirstFailures(sinceMs: number, now: Date): Statement {
  const { first, end, days } = daysSince(sinceMs, now);
  return {
    name: `longshore-record-first-failures-${first.slice(0, 10)}-${end.slice(0, 10)}`,
    text: `
    with recursive ${kindsIn(days)},
    occurred as (
      select kind.name, kind.kind, earliest.first_at, latest.last_at
      from kind
      cross join lateral (select finished_at as last_at ${recentOf(days)} order by finished_at desc limit 1) as latest
      cross join lateral (${earliestOf(end)}
      ) as earliest
      union all
      select name, longshore.error_kind(error), at, at
      from (
        select name, ${lastError} as error, retried_at as at from longshore.job_scheduled
        where retried_at >= now() - $1::float8 * interval '1 millisecond'
        order by retried_at desc limit $4::integer
      ) as retrying
      where error ->> 'message' is not null
    ),
    ${occurredRecorded}`,
    citus: `
    with ${kindsOnNodes(days)},
    retrying as materialized (
      select name, past_attempts -> -1 -> 'error' as error, retried_at as at from longshore.job_scheduled
      where retried_at >= now() - $1::float8 * interval '1 millisecond'
      order by retried_at desc limit $4::integer
    ),
    occurred as materialized (
      select chosen.name, chosen.kind, earliest.first_at, chosen.last_at
      from chosen join earliest on earliest.name = chosen.name and earliest.kind = chosen.kind
      union all
      select name, longshore.error_kind(error), at, at from retrying where error ->> 'message' is not null
    ),
    ${occurredRecorded}`,
  };
}

export interface FirstFailureRow {
  name: string;
  fingerprint: string;
  first_at: Date;
}

/**
 * Parallel arrays: $1 job names, $2 error fingerprints. Returns when each of these kinds of errors was first seen.
 * Kinds that have not been recorded have no row.
 */
export const selectFirstFailures = prepared(
  'longshore-select-first-failures',
  `
    select wanted.name, wanted.fingerprint, known.first_at
    from unnest($1::text[], $2::text[]) as wanted (name, fingerprint)
    join longshore.first_failure as known
      on known.name = wanted.name and known.kind = hashtextextended(wanted.fingerprint, 0)`,
);

/**
 * $1 age in days, $2 maximum number of kinds. Deletes the kinds of errors that have not been seen for $1 days. Also
 * deletes the least recently seen kinds beyond the maximum.
 */
export const deleteOldFirstFailures = prepared(
  'longshore-delete-old-first-failures',
  `
    delete from longshore.first_failure as old
    where last_at < now() - $1::integer * interval '1 day'
      or (name, kind) in (select name, kind from longshore.first_failure order by last_at desc offset $2::integer)`,
);
