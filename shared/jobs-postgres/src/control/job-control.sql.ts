import { jobColumns } from '../read/job-columns.sql.js';
import { dueFrom } from '../connection/from-now.sql.js';
import { transitionRecorded } from '../read/job-transitions.sql.js';
import { prepared, type Statement } from '../connection/statement.js';
import type { FinishedState } from '@longshore/jobs/storage';
import {
  becomeCancelled,
  deleteWithReports,
  becomeReadyAgain,
  becomeReadyNow,
  neverStarted,
} from './control-moves.sql.js';

/**
 * The statements below carry out operators' actions on a single job: $1 queue, $2 id. Each statement applies to jobs in
 * one state, and returns no row if the job is in another state. `changed` is false if there was nothing to change.
 */

export const cancelWaiting = prepared(
  'longshore-cancel-waiting',
  `
    with removed as (delete from longshore.job_scheduled where queue_id = $1 and id = $2 returning *),
    ${becomeCancelled('scheduled')}
    select true as changed from removed`,
);

export const cancelReady = prepared(
  'longshore-cancel-ready',
  `
    with ready as (delete from longshore.job where queue_id = $1 and id = $2 and server_id is null returning *),
    blocked as (delete from longshore.job_blocked where queue_id = $1 and id = $2 returning *),
    removed as (
      select ${jobColumns}, ready_at from ready union all select ${jobColumns}, null from blocked
    ),
    ${becomeCancelled('enqueued', `${jobColumns}, ready_at`)}
    select true as changed from removed`,
);

/** One statement per final state: $1 queue, $2 id. Locks the job until the transaction ends. */
export const lockFinished = ofFinished((state) =>
  prepared(
    `longshore-lock-${state}`,
    `select id from longshore.job_history_${state} where queue_id = $1 and id = $2 for update`,
  ),
);

export const cancelRunning = prepared(
  'longshore-cancel-running',
  `
    insert into longshore.job_cancellation (queue_id, job_id)
    select queue_id, id from longshore.job where queue_id = $1 and id = $2 and server_id is not null
    on conflict (queue_id, job_id) do update set requested_at = job_cancellation.requested_at
    returning xmax = 0 as changed`,
);

/**
 * Statements that make a failed or cancelled job ready again. A job that was cancelled while it waited for other jobs
 * waits for them again.
 */
export const retryFinished = { failed: retry('failed'), cancelled: retry('cancelled', neverStarted) };

/**
 * Like {@link retryFinished}, but a job that was cancelled while it waited for other jobs becomes ready instead of
 * waiting again.
 */
export const retryIgnoringDependencies = {
  failed: retryFinished.failed,
  cancelled: retry('cancelled', 'false', 'cancelled-ignoring-dependencies'),
};

function retry(state: FinishedState, waits = 'false', name: string = state): Statement {
  return prepared(
    `longshore-retry-${name}`,
    `
    with ${removed(state)},
    ${becomeReadyAgain(waits)}
    select true as changed from removed`,
  );
}

export const runWaiting = prepared(
  'longshore-run-waiting',
  `
    with removed as (delete from longshore.job_scheduled where queue_id = $1 and id = $2 returning *),
    ${becomeReadyNow('scheduled')}
    select true as changed from removed`,
);

/** $1 queue, $2 id, $3 new time. */
export const rescheduleWaiting = prepared(
  'longshore-reschedule-waiting',
  `
    with removed as (select * from longshore.job_scheduled where queue_id = $1 and id = $2 for update),
    ${transitionRecorded('removed', 'rescheduled', { runAt: 'run_at' })}
    update longshore.job_scheduled set run_at = ${dueFrom('$3')} where queue_id = $1 and id = (select id from removed)
    returning true as changed`,
);

export const deleteFinished = ofFinished((state) =>
  prepared(
    `longshore-delete-${state}`,
    `
    with ${removed(state)},
    ${deleteWithReports}
    select true as changed from removed`,
  ),
);

function ofFinished(
  statement: (state: FinishedState) => Statement,
): Readonly<Record<FinishedState, Statement>> {
  return { done: statement('done'), failed: statement('failed'), cancelled: statement('cancelled') };
}

function removed(state: FinishedState): string {
  return `removed as (
      delete from longshore.job_history_${state} where queue_id = $1 and id = $2
      returning *, '${state}'::longshore.job_state as state
    )`;
}

/** $1 ids of running jobs. Returns the ids of those jobs that an operator has asked to cancel. */
export const selectCancellations = prepared(
  'longshore-select-cancellations',
  `select job_id as id from longshore.job_cancellation where job_id = any($1::uuid[])`,
);

/** SQL condition on a cancellation request: the job is not running. */
export const isIdleCancellation = `not exists (
  select 1 from longshore.job
  where job.queue_id = request.queue_id and job.id = request.job_id and server_id is not null)`;

/**
 * $1 limit. Finds cancellation requests for jobs that are not running. Such a request remains if the attempt ended before the
 * server read the request.
 */
export const selectIdleCancellations = prepared(
  'longshore-select-idle-cancellations',
  `select queue_id, job_id from longshore.job_cancellation as request where ${isIdleCancellation} limit $1`,
);

/** $1 queue, $2 id. Deletes the request to cancel a job if the job is not running. */
export const deleteIdleCancellation = prepared(
  'longshore-delete-idle-cancellation',
  `delete from longshore.job_cancellation as request where queue_id = $1 and job_id = $2 and ${isIdleCancellation}`,
);
