import type { JsonValue } from '@longshore/jobs';
import type { JobMeta, LogLevel } from '@longshore/jobs/storage';
import { prepared, unprepared } from '../connection/statement.js';
import { inLiveTables, running } from './job-columns.sql.js';
import type { JobRow } from './job-row.js';
import { isShown } from './shown-queues.sql.js';

/** The columns from which a job's state changes are derived. */
export type StateChangeRow = Pick<
  JobRow,
  | 'id'
  | 'queue_id'
  | 'state'
  | 'name'
  | 'attempt'
  | 'created_at'
  | 'run_at'
  | 'started_at'
  | 'finished_at'
  | 'server_id'
  | 'error'
  | 'meta'
  | 'past_attempts'
>;

export const stateChangeColumns = (state: string, claimed: boolean): string => `
  id, queue_id, '${state}'::longshore.job_state as state, name, attempt, created_at, run_at,
  ${claimed ? 'started_at, server_id' : 'null::timestamptz as started_at, null::uuid as server_id'},
  null::timestamptz as finished_at, null::jsonb as error, meta, past_attempts`;

/**
 * Returns the time before which no new events are expected, and the current snapshot. Rows contain the start time of
 * their transaction, so the returned time is the start of the oldest transaction that may still write. 500 ms are
 * subtracted, because sessions report their transactions late.
 *
 * A transaction of Longshore holds the returned time back as soon as it starts. Any other transaction can only enqueue.
 * It holds the time back only after it has written, and by at most one minute. If Postgres hides the start of another
 * role's transaction, one minute is assumed.
 */
export const settledUpTo = prepared(
  'longshore-settled-up-to',
  `
    select pg_current_snapshot()::text as snapshot,
      least(now(), min(case
        when application_name like 'longshore%' and xact_start is not null then xact_start
        else greatest(xact_start, now() - interval '1 minute')
      end)) - interval '500 milliseconds' as settled
    from pg_stat_get_activity(null)
    where datid = (select oid from pg_catalog.pg_database where datname = current_database())
      and pid <> pg_backend_pid()
      and (backend_xid is not null or (application_name like 'longshore%' and xact_start is not null))`,
);

/**
 * $1 states, $2 from, $3 to. Not prepared, so that Postgres plans the query for these values and scans only the
 * partitions of this time span.
 */
export const selectEnded = unprepared(
  'longshore-select-ended',
  `
    select id, queue_id, state, name, attempt, created_at, run_at, started_at, server_id, finished_at, null::jsonb as error,
      meta, past_attempts
    from longshore.job_history
    where state = any($1::longshore.job_state[]) and finished_at >= $2::timestamptz and finished_at < $3::timestamptz`,
);

/** $1 from, $2 to. */
export const selectStarted = prepared(
  'longshore-select-started',
  `
    select job.* from longshore.queue cross join lateral (
      select ${stateChangeColumns('processing', true)} from (${running}) as running where started_at >= $1 and started_at < $2
    ) as job
    where ${isShown}`,
);

/** $1 from, $2 to (exclusive). Selects jobs that wait for a retry and whose last attempt failed in this period. */
export const selectRetried = prepared(
  'longshore-select-retried',
  `
    select ${stateChangeColumns('scheduled', false)} from longshore.job_scheduled where retried_at >= $1 and retried_at < $2`,
);

const createdIn = (table: string, state: string, condition = ''): string => `
      select ${stateChangeColumns(state, false)} from longshore.${table}
      where queue_id = queue.id and id >= $3 and created_at >= $1 and created_at < $2 ${condition}`;

/**
 * $1 from, $2 to, $3 lower bound for the ids of jobs created since $1. Ids are ordered by creation time, so older jobs
 * are not scanned.
 */
export const selectCreated = prepared(
  'longshore-select-created',
  `
    select job.* from longshore.queue cross join lateral (
      ${[
        createdIn('job', 'enqueued', 'and server_id is null'),
        createdIn('job_blocked', 'enqueued'),
        createdIn('job_scheduled', 'scheduled'),
        createdIn('job_awaiting', 'awaiting'),
      ].join(' union all ')}
    ) as job
    where ${isShown}`,
);

/** A log line or the latest progress of an attempt, with the job's name and metadata. */
export interface ReportRow {
  queue_id: number;
  job_id: string;
  name: string;
  meta: JobMeta | null;
  attempt: number;
  written_at: Date;
  /** The id of a log line; `null` for progress. */
  line: string | null;
  level: LogLevel;
  percent: number;
  message: string;
  fields: { [key: string]: JsonValue } | null;
}

const selectReportColumns = `
    select report.queue_id, job_id, job.name, job.meta, attempt, written_at, level, percent, message, fields,
      case when line > 0 then (extract(epoch from started_at) * 1000000)::bigint || '.' || line end as line`;

const reportedJob = `
      ${inLiveTables((table) => `select name, meta from longshore.${table} where queue_id = report.queue_id and id = report.job_id`)}
      union all select name, meta from longshore.job_history where queue_id = report.queue_id and id = report.job_id`;

/** $1 from, $2 to. Leaves out recorded transitions, which are stored in the same table (as line −1). */
export const selectReports = prepared(
  'longshore-select-reports',
  `${selectReportColumns}
    from longshore.job_report as report cross join lateral (${reportedJob} limit 1) as job
    where written_at >= $1 and written_at < $2 and line >= 0`,
);

/**
 * $1 job, $2 from (by `written_at`). Returns the job's log lines and the latest progress of each attempt, in the order
 * in which they were written.
 */
export const selectReportsOfJob = prepared(
  'longshore-select-reports-of-job',
  `${selectReportColumns}
    from longshore.queue
    join longshore.job_report as report on report.queue_id = queue.id and report.job_id = $1
    cross join lateral (${reportedJob} limit 1) as job
    where written_at >= $2 and line >= 0
    order by written_at, report.line`,
);

/** $1 partition names. Summarizes new rows in the time indexes (BRIN) of these partitions. */
export const summarizeTimes = unprepared(
  'longshore-summarize-times',
  `
    select brin_summarize_new_values(index.indexrelid)
    from pg_catalog.pg_index as index
    join pg_catalog.pg_class as part on part.oid = index.indrelid
    join pg_catalog.pg_class as made on made.oid = index.indexrelid
    where part.relnamespace = 'longshore'::regnamespace and part.relname = any($1::text[])
      and made.relam = (select oid from pg_catalog.pg_am where amname = 'brin')`,
);
