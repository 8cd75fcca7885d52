import type { JsonValue } from '@longshore/jobs';
import type { LogLevel } from '@longshore/jobs/storage';
import { type Forms, prepared } from '../connection/statement.js';

export interface LogRow {
  id: string;
  attempt: number;
  at: Date;
  level: LogLevel;
  message: string;
  fields: { [key: string]: JsonValue } | null;
}

/**
 * Stores progress and log lines, and returns the claims that are still valid.
 *
 * - $1 queue, $5 number of days for which reports are kept
 * - parallel arrays that describe the claims: $2 jobs, $3 servers, $4 attempts
 * - parallel arrays that describe the entries: $6 positions of their claims in $2 to $4 (from 1), $7 line numbers
 *   (0 for progress), $8 times, $9 levels, $10 percents, $11 messages, $12 fields
 *
 * Does not lock the jobs. If another server claims a job at the same time, the report is still stored for the attempt
 * that made it. Writes nothing for attempts that started before the retention period, because the partition of that day
 * has been dropped or soon will be.
 */
export const insertReports = prepared(
  'longshore-insert-reports',
  insertion('now()'),
  insertion('excluded.written_at'),
);

/** @param now SQL expression for the current time in `on conflict`, where Citus supports only what is stored */
function insertion(now: string): string {
  return `
    with held as materialized (
      select claim.place, job.id, job.attempt, job.started_at
      from unnest($2::uuid[], $3::uuid[], $4::smallint[]) with ordinality as claim (id, server_id, attempt, place)
      join longshore.job on job.queue_id = $1 and job.id = claim.id
        and job.server_id = claim.server_id and job.attempt = claim.attempt
    ),
    written as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, level, percent, message, fields)
      select $1, held.id, held.started_at, entry.line, held.attempt, entry.at, entry.level, entry.percent, entry.message, entry.fields
      from unnest($6::integer[], $7::integer[], $8::timestamptz[], $9::text[], $10::real[], $11::text[], $12::jsonb[])
        as entry (place, line, at, level, percent, message, fields)
      join held on held.place = entry.place
      where held.started_at > now() - $5::integer * interval '1 day'
      on conflict (queue_id, job_id, started_at, line) do update
      set at = excluded.at, percent = excluded.percent, message = excluded.message, written_at = ${now}
      where job_report.line = 0 and job_report.at <= excluded.at
    )
    select id, attempt from held`;
}

/**
 * Returns an SQL expression, named `progress`, for the latest progress of a job's current attempt; `job` is the alias
 * of the job's row.
 */
const progressOf = (job: string): string => `(
    select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
    where report.queue_id = ${job}.queue_id and report.job_id = ${job}.id and report.started_at = ${job}.started_at and line = 0
  ) as progress`;

/**
 * Returns SQL expressions, named `progress` and `cancellation`, for what other tables have about a job: its progress, and
 * the request to cancel it while it runs. Looks up requests for running jobs only: for each of the 100 other jobs on a page,
 * it would take 0.5 µs, and far longer while there are many requests that the statistics do not know yet. `job` is the
 * alias of the job's row.
 */
export const reportedOf = (job: string): string => `${progressOf(job)},
  case when ${job}.server_id is not null and ${job}.finished_at is null then (
    select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
    where request.queue_id = ${job}.queue_id and request.job_id = ${job}.id
  ) end as cancellation`;

/**
 * Returns a query for a list of jobs with what other tables have about them, as {@link reportedOf}. On Citus, which cannot
 * run a subquery for each row, the list is selected first, and then joined with what the others have about all of its jobs.
 *
 * @param alias the alias of the list's rows
 * @param list returns the query for the list, given what to add to its columns
 */
export const withReports: Forms<(alias: string, list: (reports: string) => string) => string> = {
  none: (alias, list) => list(`, ${reportedOf(alias)}`),
  citus: (_, list) => `
    with found as materialized (
      select found.*, row_number() over () as place from (${list('')}) as found
    ),
    wanted as materialized (
      select found.queue_id, found.id, found.started_at from found where found.started_at is not null
    ),
    reports as materialized (
      select report.job_id, report.percent, report.message
      from longshore.job_report as report join wanted
        on report.queue_id = wanted.queue_id and report.job_id = wanted.id and report.started_at = wanted.started_at
      where report.line = 0
    ),
    running as materialized (
      select found.queue_id, found.id from found where found.server_id is not null and found.finished_at is null
    ),
    requests as materialized (
      select request.job_id, request.requested_at, request.reason
      from longshore.job_cancellation as request join running
        on request.queue_id = running.queue_id and request.job_id = running.id
    )
    select found.*, case when reports.job_id is not null
        then json_build_object('percent', reports.percent, 'message', reports.message) end as progress,
      case when requests.job_id is not null
        then json_build_object('requestedAt', requests.requested_at, 'reason', requests.reason) end as cancellation
    from found left join reports on reports.job_id = found.id left join requests on requests.job_id = found.id
    order by found.place`,
};

/**
 * The `from` and `where` clauses of a query for log lines: $1 queue, $2 job, $3 when the job was created, $4 attempt,
 * or null for all. The bound on `started_at` prunes earlier partitions. An attempt can start before its job was
 * created, because a claim's transaction may begin before the transaction that enqueues the job. The bound therefore
 * leaves an hour of leeway.
 */
const linesOf = `
    from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line > 0
      and ($4::smallint is null or attempt = $4)`;

/** The columns of a log line, as {@link LogRow}. */
const lineColumns =
  "(extract(epoch from started_at) * 1000000)::bigint || '.' || line as id, attempt, at, level, message, fields";

/**
 * $1 to $4 as in {@link linesOf}; $5 and $6 the line to continue after: the start of its attempt in microseconds, and
 * its line number; $7 limit, $8 offset.
 */
export const selectLines = prepared(
  'longshore-select-lines',
  `
    select ${lineColumns}
    ${linesOf} and (started_at, line) > (timestamptz 'epoch' + $5::bigint * interval '1 microsecond', $6::integer)
    order by started_at, line
    limit $7 offset $8`,
);

/**
 * The latest lines of several jobs, latest first: $1 to $3 parallel arrays of queue ids, job ids and times of creation;
 * $4 the limit, for each job and in all. Reads at most as many lines of each job, backwards from the last, by the primary key.
 * The bound on `started_at` is that of {@link linesOf}.
 */
export const selectLatestLines = prepared(
  'longshore-select-latest-lines',
  `
    select latest.* from unnest($1::integer[], $2::uuid[], $3::timestamptz[]) as wanted (queue_id, id, created_at),
      lateral (
        select job_id as "jobId", ${lineColumns}
        from longshore.job_report as report
        where report.queue_id = wanted.queue_id and report.job_id = wanted.id
          and report.started_at >= wanted.created_at - interval '1 hour' and report.line > 0
        order by report.started_at desc, report.line desc
        limit $4
      ) as latest
    order by latest.at desc
    limit $4`,
  `
    select job_id as "jobId", ${lineColumns}
    from longshore.job_report
    where queue_id = any($1::integer[]) and job_id = any($2::uuid[])
      and started_at >= (select min(created_at) from unnest($3::timestamptz[]) as wanted (created_at)) - interval '1 hour'
      and line > 0
    order by at desc
    limit $4`,
);

/** $1 to $4 as in {@link linesOf}. Returns no row if there are no lines. */
export const countLines = prepared(
  'longshore-count-lines',
  `select count(*)::integer as lines ${linesOf} having count(*) > 0`,
);
