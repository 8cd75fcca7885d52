import { clockTolerance, liveJobs, type Property } from './job-properties.js';

/** Violations to look for in the store's tables at the end of a run. */
export const storeProperties: readonly Property[] = [
  ['jobs stuck in processing', `select id from longshore.job where server_id is not null and queue_id > 0`],
  [
    'counters that differ from the rows they count',
    `with real as (
       select queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state
       from longshore.job where queue_id > 0
       union all select queue_id, 'enqueued' from longshore.job_blocked where queue_id > 0
       union all select queue_id, 'scheduled' from longshore.job_scheduled where queue_id > 0
       union all select queue_id, 'awaiting' from longshore.job_awaiting where queue_id > 0
       union all select queue_id, state from longshore.job_history
     )
     select from (select queue_id, state, count(*) as jobs from real group by queue_id, state) as rows
     full join (
       select queue_id, state, sum(jobs) as jobs from longshore.job_count group by queue_id, state having sum(jobs) <> 0
     ) as counters using (queue_id, state)
     where rows.jobs is distinct from counters.jobs`,
  ],
  [
    'jobs in the throughput that have not ended, or ended jobs that are not in it',
    `select generate_series(1, abs(
       (select coalesce(sum(done), 0) from longshore.throughput where queue_id = 0)
       + (select coalesce(sum(jobs), 0) from longshore.job_count where state = 'done' and jobs > 0 and at is not null)
       - (select count(*) from longshore.job_history where state = 'done'))::bigint)`,
  ],
  ['what background work could not deal with', 'select from longshore.set_aside'],
  ['moves in the outbox without consequences', 'select id from longshore.outbox'],
  [
    'links that are not settled, or of jobs that are not there',
    `select child_id from longshore.job_dependency
     where resolved_at is null or not marked or child_id not in (select id from longshore.job_history)`,
  ],
  [
    'batches lost: accepted, and not there',
    'select id from promised where id not in (select id from longshore.batch)',
  ],
  [
    'batches that have not finished, or count other jobs than they have',
    `select batch.id from longshore.batch left join (
       select meta ->> 'batchId' as batch_id, count(*) as jobs from longshore.job_history where meta ? 'batchId' group by 1
     ) as member on batch_id = batch.id::text
     where finished_at is null or done <> total or failed <> 0 or cancelled <> 0 or jobs is distinct from total`,
  ],
  [
    'batches whose callback is not done',
    `select batch.id from longshore.batch
     where callback_id is not null and callback_id not in (select id from longshore.job_history where state = 'done')`,
  ],
  [
    'keys held by a job that is not there',
    `select key from longshore.job_key
     where job_id not in (select id from longshore.job_history union all select id from (${liveJobs}) as live)`,
  ],
  [
    'cancellations of jobs that do not run',
    `select job_id from longshore.job_cancellation where job_id not in (select id from longshore.job)`,
  ],
  [
    'buckets of tokens that hold none of a possible number',
    `select queue_bucket.queue_id from longshore.queue_bucket join longshore.queue on queue.id = queue_bucket.queue_id
     where rate_limit is not null
       and (tokens is null or tokens < -0.001 or tokens > (rate_limit ->> 'burst')::float8 + 0.001 or refilled_at > now())`,
  ],
  [
    'recurring jobs that went on while they were paused',
    'select id from longshore.recurring_job where paused_at is not null and next_due_at is not null',
  ],
  [
    'reports of jobs that are not there, or with a time that is not theirs',
    `select job_id from longshore.job_report
     where job_id not in (select id from longshore.job_history)
       or at not between started_at - ${clockTolerance} and written_at + ${clockTolerance}`,
  ],
  [
    'rows in the partitions of no day',
    `select id from longshore.job_history_done_default union all select id from longshore.job_history_failed_default
     union all select id from longshore.job_history_cancelled_default union all select job_id from longshore.job_report_default`,
  ],
  [
    'days of history that are missing',
    `select from unnest(array['job_history_done', 'job_history_failed', 'job_history_cancelled', 'job_report']) as history,
       generate_series(0, 7) as ahead
     where to_regclass(format('longshore.%I', history || '_' || to_char((now() at time zone 'UTC')::date + ahead, 'YYYYMMDD'))) is null`,
  ],
  [
    'bulk actions, or entries of the audit, that nobody asked for',
    'select from longshore.bulk_operation union all select from longshore.audit',
  ],
];
