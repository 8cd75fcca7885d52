import type { JsonValue } from '@longshore/jobs';
import type { JobMeta, LogLevel } from '@longshore/jobs/storage';
import { prepared, unprepared } from '../connection/statement.js';
import { inLiveTables, running } from '../jobs/job-columns.sql.js';
import type { JobRow } from '../jobs/job-row.js';
import { isShown } from '../queues/pause.sql.js';

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
> & {
  /** The time of the change, in whole milliseconds: where the row is in the feed. */
  entry_at: Date;
};

/**
 * The past attempts without their errors, which can be long and are not part of events. A value that is not a list is
 * returned as it is.
 */
const pastAttempts = `case when jsonb_typeof(past_attempts) = 'array' then (
        select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
        from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
      ) else past_attempts end as past_attempts`;

/** SQL expression for the place of a change in the feed. */
const placeOf = (at: string): string => `date_trunc('milliseconds', ${at})`;

/**
 * Condition: the change is after the position ($1, $2) and before $3. The time is compared on its own as well, because
 * only that uses the indexes.
 */
const isOnPage = (at: string, id = 'id'): string =>
  `${at} >= $1::timestamptz and ${at} < $3::timestamptz and (${placeOf(at)}, ${id}) > ($1::timestamptz, $2::uuid)`;

/** Condition on a job: $5 queues, $6 names, $7 tags, $8 batches and $9 recurring jobs; each is null for all. */
const isMatch = (job = ''): string => `($5::integer[] is null or ${job}queue_id = any($5))
        and ($6::text[] is null or ${job}name = any($6)) and ($7::text[] is null or ${job}meta -> 'tags' ?| $7)
        and ($8::text[] is null or ${job}meta ->> 'batchId' = any($8))
        and ($9::text[] is null or ${job}meta ->> 'recurringJobId' = any($9))`;

const stateChangeColumns = (state: string, at: string, claimed: boolean): string => `
  id, queue_id, '${state}'::longshore.job_state as state, name, attempt, created_at, run_at,
  ${claimed ? 'started_at, server_id' : 'null::timestamptz as started_at, null::uuid as server_id'},
  null::timestamptz as finished_at, null::jsonb as error, meta, ${pastAttempts}, ${placeOf(at)} as entry_at`;

/**
 * Returns the time before which no new events are expected, and the current snapshot. Rows contain the start time of
 * their transaction, so the returned time is the start of the oldest transaction that may still write. 500 ms are
 * subtracted, because sessions report their transactions late.
 *
 * A transaction of Longshore holds the returned time back as soon as it starts. Any other transaction can only enqueue.
 * It holds the time back only after it has written, and by at most one minute. If Postgres hides the start of another
 * role's transaction, one minute is assumed.
 *
 * On Citus, considers all open transactions, even those without an id: a transaction that writes only on other nodes gets
 * no id on the coordinator. Also considers transactions that have been committed but are not visible on all nodes yet. For
 * the same reasons, a snapshot would not show whether anything has been written; the column `snapshot` therefore contains
 * the current time, and differs on every call.
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
  `
    select clock_timestamp()::text as snapshot,
      least(now(), longshore.oldest_prepared() - interval '1 minute', min(case
        when application_name like 'longshore%' then xact_start
        else greatest(xact_start, now() - interval '1 minute')
      end)) - interval '500 milliseconds' as settled
    from pg_stat_get_activity(null)
    where datid = (select oid from pg_catalog.pg_database where datname = current_database())
      and pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'`,
);

/** Orders the entries of a page, and ends it after $4 of them. */
const firstEntries = 'order by entry_at, id limit $4';

const startedPage = {
  columns: stateChangeColumns('processing', 'started_at', true),
  condition: `${isOnPage('started_at')}
        and ${isMatch()}`,
};

/** Lists the jobs in a table that were created in the period of the page. $10 is a lower bound for their ids. */
const createdPage = (table: string, state: string, condition = ''): string => `
      select ${stateChangeColumns(state, 'created_at', false)} from longshore.${table} as job
      where id >= $10::uuid and ${isOnPage('created_at')} ${condition}
        and ${isMatch()}`;

/*
 * Each of the following statements returns a page of the feed. $1 and $2 are the position after which it starts (time and
 * id), $3 is the time before which it ends, $4 the maximum number of entries, and $5 to $9 select jobs.
 */

/**
 * $10 states. Not prepared, so that Postgres plans the query for these values and scans only the partitions of this time
 * span.
 */
export const selectEnded = unprepared(
  'longshore-select-ended',
  `
    select id, queue_id, state, name, attempt, created_at, run_at, started_at, server_id, finished_at, null::jsonb as error,
      meta, ${pastAttempts}, ${placeOf('finished_at')} as entry_at
    from longshore.job_history
    where state = any($10::longshore.job_state[]) and ${isOnPage('finished_at')}
        and ${isMatch()}
    ${firstEntries}`,
);

/**
 * Selects jobs that started in this period and are still running. On Citus, each node reads all running jobs of its queues:
 * the scan cannot stop after the last running job of each queue, because it does not read their number.
 */
export const selectStarted = prepared(
  'longshore-select-started',
  `
    select job.* from longshore.queue cross join lateral (
      select ${startedPage.columns} from (${running.none}) as running where ${startedPage.condition}
    ) as job
    where ${isShown}
    ${firstEntries}`,
  `
    select ${startedPage.columns} from longshore.job
    where queue_id in (select queue_id from longshore.queue_node) and server_id is not null
        and ${startedPage.condition}
    ${firstEntries}`,
);

/** Selects jobs that wait for a retry and whose last attempt failed in this period. */
export const selectRetried = prepared(
  'longshore-select-retried',
  `
    select ${stateChangeColumns('scheduled', 'retried_at', false)} from longshore.job_scheduled
    where ${isOnPage('retried_at')}
        and ${isMatch()}
    ${firstEntries}`,
);

const isOnNode = 'and queue_id in (select queue_id from longshore.queue_node)';

/**
 * $10 lower bound for the ids of jobs created since $1. Ids are ordered by creation time, so older jobs are not scanned.
 */
export const selectCreated = prepared(
  'longshore-select-created',
  `
    select job.* from longshore.queue cross join lateral (
      ${[
        createdPage('job', 'enqueued', 'and queue_id = queue.id and server_id is null'),
        createdPage('job_blocked', 'enqueued', 'and queue_id = queue.id'),
        createdPage('job_scheduled', 'scheduled', 'and queue_id = queue.id'),
        createdPage('job_awaiting', 'awaiting', 'and queue_id = queue.id'),
      ].join(' union all ')}
    ) as job
    where ${isShown}
    ${firstEntries}`,
  `
    select job.* from (${[
      createdPage('job', 'enqueued', `${isOnNode} and server_id is null`),
      createdPage('job_blocked', 'enqueued', isOnNode),
      createdPage('job_scheduled', 'scheduled', isOnNode),
      createdPage('job_awaiting', 'awaiting', isOnNode),
    ].join(' union all ')}
    ) as job
    ${firstEntries}`,
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
  /** The time of writing, in whole milliseconds. */
  entry_at: Date;
}

/** The id of a log line; null for progress. */
const lineId = `case when line > 0 then (extract(epoch from started_at) * 1000000)::bigint || '.' || line end as line`;

const selectReportColumns = `
    select report.queue_id, job_id, job.name, job.meta, attempt, written_at, level, percent, message, fields, ${lineId}`;

const reportedJob = `
      ${inLiveTables((table) => `select name, meta from longshore.${table} where queue_id = report.queue_id and id = report.job_id`)}
      union all select name, meta from longshore.job_history where queue_id = report.queue_id and id = report.job_id`;

/**
 * Leaves out recorded transitions, which are stored in the same table (as line −1). Also returns the further reports of a
 * job that were written together with the last one of the page.
 */
export const selectReports = prepared(
  'longshore-select-reports',
  `${selectReportColumns}, ${placeOf('written_at')} as entry_at
    from longshore.job_report as report cross join lateral (${reportedJob} limit 1) as job
    where line >= 0 and ${isOnPage('written_at', 'job_id')}
        and ${isMatch('job.').replaceAll('job.queue_id', 'report.queue_id')}
    order by entry_at, job_id
    fetch first ($4) rows with ties`,
);

/**
 * $1 job, $2 from (by `written_at`), $3 maximum number of reports. Returns the job's log lines and the latest progress of
 * each attempt, in the order in which they were written. Also returns the further reports of the last millisecond.
 */
export const selectReportsOfJob = prepared(
  'longshore-select-reports-of-job',
  `
    select page.*, job.name, job.meta from (
      select report.queue_id, job_id, attempt, written_at, level, percent, message, fields, ${lineId},
        ${placeOf('written_at')} as entry_at
      from longshore.queue
      join longshore.job_report as report on report.queue_id = queue.id and report.job_id = $1
      where written_at >= $2 and line >= 0
      order by entry_at
      fetch first ($3) rows with ties
    ) as page
    cross join lateral (${reportedJob.replaceAll('report.', 'page.')} limit 1) as job
    order by written_at, line`,
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
  'select longshore.summarize_times($1::text[])::text',
);
