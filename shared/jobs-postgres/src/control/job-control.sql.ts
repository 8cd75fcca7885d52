import type { Statement } from '../connection/database.js';
import {
  becomeCancelled,
  becomeForgotten,
  becomeReadyAgain,
  becomeReadyNow,
  keptOfJob,
} from './control-moves.sql.js';
import { moveNoted } from '../read/job-transitions.sql.js';

/**
 * What operators do to one job: $1 queue, $2 id. Each statement is for jobs at one stage of their life and answers with a
 * row if it found the job there; `changed` tells whether it had been so already.
 */

export const cancelWaiting: Statement = {
  name: 'longshore-cancel-waiting',
  text: `
    with removed as (delete from longshore.job_waiting where queue_id = $1 and id = $2 returning *),
    ${becomeCancelled('scheduled')}
    select true as changed from removed`,
};

export const cancelReady: Statement = {
  name: 'longshore-cancel-ready',
  text: `
    with from_line as (delete from longshore.job where queue_id = $1 and id = $2 and server_id is null returning *),
    from_held as (delete from longshore.job_held where queue_id = $1 and id = $2 returning *),
    removed as (
      select ${keptOfJob}, ready_at from from_line union all select ${keptOfJob}, null from from_held
    ),
    ${becomeCancelled('enqueued', `${keptOfJob}, ready_at`)}
    select true as changed from removed`,
};

/** $1 queue, $2 id. Held until the transaction ends. */
export const lockFinished: Statement = {
  name: 'longshore-lock-finished',
  text: `select id from longshore.job_done where queue_id = $1 and id = $2 for update`,
};

export const cancelRunning: Statement = {
  name: 'longshore-cancel-running',
  text: `
    insert into longshore.job_cancellation (queue_id, job_id)
    select queue_id, id from longshore.job where queue_id = $1 and id = $2 and server_id is not null
    on conflict (queue_id, job_id) do update set requested_at = job_cancellation.requested_at
    returning xmax = 0 as changed`,
};

export const retryFinished: Statement = {
  name: 'longshore-retry-finished',
  text: `
    with removed as (
      delete from longshore.job_done
      where queue_id = $1 and id = $2 and state in ('failed', 'cancelled') returning *
    ),
    ${becomeReadyAgain}
    select true as changed from removed`,
};

export const runWaiting: Statement = {
  name: 'longshore-run-waiting',
  text: `
    with removed as (delete from longshore.job_waiting where queue_id = $1 and id = $2 returning *),
    ${becomeReadyNow('scheduled')}
    select true as changed from removed`,
};

/** $3 time. */
export const rescheduleWaiting: Statement = {
  name: 'longshore-reschedule-waiting',
  text: `
    with removed as (select * from longshore.job_waiting where queue_id = $1 and id = $2 for update),
    ${moveNoted('removed', 'rescheduled', { runAt: 'run_at' })}
    update longshore.job_waiting set run_at = $3 where queue_id = $1 and id = (select id from removed)
    returning true as changed`,
};

export const deleteFinished: Statement = {
  name: 'longshore-delete-finished',
  text: `
    with removed as (delete from longshore.job_done where queue_id = $1 and id = $2 returning *),
    ${becomeForgotten}
    select true as changed from removed`,
};

/** $1 ids of running jobs. */
export const selectCancellations: Statement = {
  name: 'longshore-select-cancellations',
  text: `select job_id as id from longshore.job_cancellation where job_id = any($1::uuid[])`,
};

const idle = `not exists (
  select from longshore.job
  where job.queue_id = request.queue_id and job.id = request.job_id and server_id is not null)`;

/** Requests whose job no longer runs: its attempt ended before anybody read them, in success, for a retry, or given back. */
export const selectIdleCancellations: Statement = {
  name: 'longshore-select-idle-cancellations',
  text: `select queue_id, job_id from longshore.job_cancellation as request where ${idle}`,
};

/** $1 queue, $2 id. */
export const deleteIdleCancellation: Statement = {
  name: 'longshore-delete-idle-cancellation',
  text: `delete from longshore.job_cancellation as request where queue_id = $1 and job_id = $2 and ${idle}`,
};

/** Whether the settings of a queue are those that somebody has seen: whether it matters, whether it is paused, limit, rate limit. */
export const asSeen = (first: number): string => `(not $${first}::boolean or (
      (queue.paused_at is not null) = $${first + 1}::boolean
      and queue.concurrency_limit is not distinct from $${first + 2}::integer
      and queue.rate_limit is not distinct from $${first + 3}::jsonb))`;

/** Part of the statements that set something of a queue: one that was retired is back. */
export const isBack = 'retired_at = null, idle_since = null';

/** $1 queue, $2 to $5 what was seen of it. */
export const pauseQueue: Statement = {
  name: 'longshore-pause-queue',
  text: `
    update longshore.queue set paused_at = coalesce(paused_at, now()), ${isBack}
    where id = $1 and ${asSeen(2)}
    returning id`,
};

/** $1 queue, $2 to $5 what was seen of it. */
export const resumeQueue: Statement = {
  name: 'longshore-resume-queue',
  text: `
    update longshore.queue set paused_at = null, ${isBack}
    where id = $1 and ${asSeen(2)}
    returning id`,
};
