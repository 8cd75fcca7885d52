import { prepared, type Statement } from '../connection/statement.js';
import { listedColumns } from './job-documents.js';
import { startOfDay } from './search-history.sql.js';
import { progressOf } from './reports.sql.js';
import { finishedAs, lastError } from './job-columns.sql.js';

// Each daily partition of failed jobs has its own indexes. Partitions are scanned newest first, so the scan stops at
// the day that fills the page.

const ofQueue = 'queue_id = $2::integer';

/** $1 limit. */
export const selectLatestFailed = prepared('longshore-select-latest-failed', latestFailed('true'));

/** $1 limit, $2 queue. */
export const selectLatestFailedOf = prepared('longshore-select-latest-failed-of', latestFailed(ofQueue));

/** $1 limit, $2 job to continue after. */
export const selectEarlierFailed = prepared('longshore-select-earlier-failed', latestFailed(before('$2')));

/** $1 limit, $2 queue, $3 job to continue after. */
export const selectEarlierFailedOf = prepared(
  'longshore-select-earlier-failed-of',
  latestFailed(`${ofQueue} and ${before('$3')}`),
);

function before(id: string): string {
  return `(finished_at, id) < (select finished_at, id from longshore.job_history_failed where id = ${id}::uuid limit 1)`;
}

function latestFailed(condition: string): string {
  return `
    select ${listedColumns('listed', 'brief')}, ${progressOf('listed')}
    from (
      select ${finishedAs('failed')} from longshore.job_history_failed where ${condition}
      order by finished_at desc, id desc limit $1::integer
    ) as listed
    order by finished_at desc, id desc`;
}

/** Jobs of one name that failed with one kind of error. */
export interface ErrorGroupRow {
  name: string;
  /** The id of the job that failed last. */
  id: string;
  error_name: string;
  message: string;
  first_at: Date;
  last_at: Date;
  /** The number of these jobs; counting stops at one more than `most`. */
  jobs: number;
  most: number;
  /** Whether all names and kinds of errors are included. */
  complete: boolean;
}

/** Maximum difference between the database's clock and what this process knows of it. */
const clocksDifferMs = 3_600_000;

/** Limits of counting: for every kind of error, for each kind that exceeds this, and for all of the latter together. */
const fewJobs = 100;
const mostJobs = 2_000;
const allJobs = 10_000;

/**
 * $1 milliseconds, $2 maximum number of kinds, $3 maximum number of kinds per name. Steps from kind to kind in the
 * index and counts each separately, so that a flood of one does not hide the others: first a few jobs of every kind,
 * then more of the large ones, whose common limit is shared among them. Naming the days prunes all other partitions,
 * and the statement is prepared, because planning it takes longer than running it. The first occurrence is looked up across
 * all days.
 *
 * @param now by the database's clock
 */
export function selectErrorGroups(sinceMs: number, now: Date): Statement {
  const first = startOfDay(new Date(now.getTime() - sinceMs - clocksDifferMs)).toISOString();
  const end = startOfDay(now, 2).toISOString();
  const days = `finished_at >= '${first}'::timestamptz and finished_at < '${end}'::timestamptz`;
  const kindOf = 'longshore.error_kind(error)';
  const alike = `
      from longshore.job_history_failed
      where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
        and name = kind.name and ${kindOf} = kind.kind`;
  return {
    name: `longshore-select-error-groups-${first.slice(0, 10)}-${end.slice(0, 10)}`,
    text: `
    with recursive step as (
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
    kind as materialized (select * from step where kind is not null),
    counted as materialized (
      select kind.*, few.jobs from kind
      cross join lateral (select count(*)::integer as jobs from (select ${alike} limit ${fewJobs + 1}) as seen) as few
    ),
    bound as materialized (
      select greatest(${fewJobs}, least(${mostJobs}, ${allJobs} / greatest(large, 1) / 100 * 100)) as most, complete
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
    cross join lateral (
      select finished_at as first_at from longshore.job_history_failed
      where finished_at < '${end}'::timestamptz and name = kind.name and ${kindOf} = kind.kind
      order by finished_at limit 1
    ) as earliest
    cross join lateral (
      select case when kind.jobs <= ${fewJobs} or bound.most = ${fewJobs} then kind.jobs
        else (select count(*)::integer from (select ${alike} limit (select most + 1 from bound)) as seen) end as jobs
    ) as seen`,
  };
}

/** A job that waits for another attempt. */
export interface RetryingRow {
  id: string;
  name: string;
  error_name: string;
  message: string;
  at: Date;
}

/** $1 milliseconds, $2 limit. Selects jobs whose last attempt failed within that time and that wait for another. */
export const selectRetrying = prepared(
  'longshore-select-retrying',
  `
    select id, name, coalesce((${lastError}) ->> 'name', '') as error_name, left((${lastError}) ->> 'message', 1000) as message,
      retried_at as at
    from longshore.job_scheduled
    where retried_at >= now() - $1::float8 * interval '1 millisecond' and (${lastError}) ->> 'message' is not null
    order by retried_at desc limit $2`,
);
