import type { JsonValue, LogLevel } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

export interface LogRow {
  id: string;
  attempt: number;
  at: Date;
  level: LogLevel;
  message: string;
  fields: { [key: string]: JsonValue } | null;
}

/**
 * $1 queue, $2 ids, $3 servers, $4 attempts, $5 days that reports are kept; then the entries: $6 places of their claims, from 1, $7 lines,
 * $8 times, $9 levels, $10 percents, $11 messages, $12 fields. Answers with the claims that hold. No row is locked: what was
 * said while the claim held stays with its attempt, whoever runs the job by the time it is written. A day that has been
 * dropped, or is about to be, gets nothing any more.
 */
export const insertReports = prepared(
  'longshore-insert-reports',
  `
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
      set at = excluded.at, percent = excluded.percent, message = excluded.message, written_at = now()
      where job_report.line = 0 and job_report.at <= excluded.at
    )
    select id, attempt from held`,
);

/** What the attempt of a job's row last said of its progress; `job` is the row's name. */
export const progressOf = (job: string): string => `(
    select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
    where report.queue_id = ${job}.queue_id and report.job_id = ${job}.id and report.started_at = ${job}.started_at and line = 0
  ) as progress`;

/**
 * $1 queue, $2 job, $3 when the job was made: earlier days need not be looked at, $4 attempt or null. A claim's transaction may
 * have begun a moment before the one that enqueued, and still see the job: the attempt then starts before it was made.
 */
const linesOf = `
    from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line > 0
      and ($4::smallint is null or attempt = $4)`;

/** $5, $6 the two parts of the id of the line before, $7 limit, $8 offset. An id is the attempt's start in microseconds, and the line. */
export const selectLines = prepared(
  'longshore-select-lines',
  `
    select (extract(epoch from started_at) * 1000000)::bigint || '.' || line as id, attempt, at, level, message, fields
    ${linesOf} and (started_at, line) > (timestamptz 'epoch' + $5::bigint * interval '1 microsecond', $6::integer)
    order by started_at, line
    limit $7 offset $8`,
);

export const countLines = prepared(
  'longshore-count-lines',
  `select count(*)::integer as lines ${linesOf} having count(*) > 0`,
);

/**
 * $1 queue, parallel arrays: $2 jobs, $3 queues that they have come to; $4 when the first of these jobs was made. Reports go with
 * their job, or nobody finds them; keys stay in their queue, so it is noted where the jobs that hold them are.
 */
export const noteMoves = prepared(
  'longshore-note-moves',
  `
    with moved as (select * from unnest($2::uuid[], $3::integer[]) as moved (id, to_queue)),
    noted as (
      insert into longshore.moved_job (job_id, queue_id) select id, to_queue from moved order by id
      on conflict (job_id) do update set queue_id = excluded.queue_id
    )
    update longshore.job_report as report set queue_id = moved.to_queue
    from moved
    where report.queue_id = $1 and report.job_id = moved.id and report.started_at >= $4::timestamptz - interval '1 hour'`,
);
