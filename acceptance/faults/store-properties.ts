import { storeInvariants } from '@longshore/test-support';
import { clockTolerance, type Property } from './job-properties.js';

/**
 * Violations to look for in the store's tables at the end of a run: of what holds at rest anyway, and of what holds
 * because no job is unfinished.
 */
export const storeProperties: readonly Property[] = [
  ...storeInvariants,
  ['jobs stuck in processing', `select id from longshore.job where server_id is not null and queue_id > 0`],
  [
    'jobs in the throughput that have not ended, or ended jobs that are not in it',
    `select generate_series(1, abs(
       (select coalesce(sum(done), 0) from longshore.throughput where queue_id = 0)
       + (select coalesce(sum(jobs), 0) from longshore.job_count where state = 'done' and jobs > 0 and at is not null)
       - (select count(*) from longshore.job_history where state = 'done'))::bigint)`,
  ],
  [
    'dependencies that are not resolved, or of jobs that do not exist',
    `select child_id from longshore.job_dependency
     where resolved_at is null or child_id not in (select id from longshore.job_history)`,
  ],
  [
    'batches lost: accepted, and not there',
    'select id from promised where id not in (select id from longshore.batch)',
  ],
  ['batches that have not ended', 'select id from longshore.batch where finished_at is null'],
  [
    'batches whose callback is not done',
    `select batch.id from longshore.batch
     where callback_id is not null and callback_id not in (select id from longshore.job_history where state = 'done')`,
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
  ['bulk operations that have not ended', `select id from longshore.bulk_operation where state <> 'done'`],
];
