import type { FinishedState } from '@longshore/jobs/storage';
import { prepared, type Statement } from '../connection/statement.js';
import { liveTables } from './job-columns.sql.js';

/** One statement per final state: $1 queue, $2 id. Locks the job until the transaction ends. */
export const lockFinished = {
  done: lock('done'),
  failed: lock('failed'),
  cancelled: lock('cancelled'),
};

function lock(state: FinishedState): Statement {
  return prepared(
    `longshore-lock-${state}`,
    `select id from longshore.job_history_${state} where queue_id = $1 and id = $2 for update`,
  );
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

/** $1 queue, $2 id. Requests the cancellation of a job in this queue, whatever its state. */
export const requestCancellation = prepared(
  'longshore-request-cancellation',
  `insert into longshore.job_cancellation (queue_id, job_id) values ($1, $2) on conflict (queue_id, job_id) do nothing`,
);

/** The tables with the jobs that can run, or are running. */
const startable = liveTables.filter((table) => table !== 'job_awaiting');

/** $1 queue, $2 id. Deletes the request to cancel a job if the job has ended or is in another queue. */
export const deleteMootCancellation = prepared(
  'longshore-delete-moot-cancellation',
  `
    delete from longshore.job_cancellation where queue_id = $1 and job_id = $2 and not exists (
      ${startable.map((table) => `select 1 from longshore.${table} where queue_id = $1 and id = $2`).join(' union all ')}
    )`,
);

/** $1 id. Returns the queue to which a job was moved last; no row if it was never moved. */
export const findNewQueue = prepared(
  'longshore-find-new-queue',
  `select queue_id from longshore.moved_job where job_id = $1`,
);
