import { bounds, maxCountedAttempts } from '@longshore/jobs/storage';
import { jobColumns } from '../read/job-columns.sql.js';
import { becomeReady } from '../enqueue/become-ready.sql.js';
import { moveNoted } from '../read/job-transitions.sql.js';
import { noted } from '../dependencies/outbox.sql.js';

/**
 * Parts of statements by which operators move one or many jobs. Each completes the move after a part named `removed` has
 * deleted the jobs from a table and returned their rows.
 */

/**
 * @param from SQL expression of the previous state
 * @param to SQL expression of the new state; `null` if the jobs are deleted
 */
function counted(from: string, to: string | null): string {
  const change = (state: string, jobs: string): string =>
    `select queue_id, ${state}, ${jobs} from removed group by queue_id, ${state}`;
  return `
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      ${change(from, '-count(*)')} ${to === null ? '' : `union all ${change(to, 'count(*)')}`}
    )`;
}

const literal = (state: string): string => `'${state}'::longshore.job_state`;

/** Moves jobs that are not running to `cancelled`. `columns` are those that history keeps. */
export function becomeCancelled(from: 'scheduled' | 'awaiting' | 'enqueued', columns = jobColumns): string {
  return `
    history as (
      insert into longshore.job_history_cancelled (${columns}, state) select ${columns}, 'cancelled' from removed
    ), ${noted('removed', literal(from), literal('cancelled'))}, ${counted(literal(from), literal('cancelled'))}`;
}

/** Leaves at least one attempt to a job that is retried, however often that happened before. */
const attemptsSoFar = `least(attempt, ${maxCountedAttempts - 1})`;

/**
 * Moves finished jobs back to ready. Values stored before there were bounds are clamped. The last attempt joins the earlier
 * ones, and one more is allowed if none was left.
 */
export const becomeReadyAgain = `
    revived as (
      select queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
        least(greatest(priority, ${bounds.priority.least}), ${bounds.priority.most})::smallint as priority, ${attemptsSoFar} as attempt,
        least(greatest(max_attempts, ${attemptsSoFar} + 1), ${maxCountedAttempts})::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
        else coalesce(past_attempts, '[]') || jsonb_build_object(
          'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
        end as past_attempts
      from removed
    ),
    ${becomeReady('revived', 'id')},
    ${moveNoted('removed', 'retried', {
      state: 'state',
      runAt: 'run_at',
      readyAt: 'ready_at',
      startedAt: 'started_at',
      serverId: 'server_id',
      finishedAt: 'finished_at',
      error: 'case when server_id is null then error end',
    })},
    request as (
      delete from longshore.job_cancellation using removed
      where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
    ),
    ${noted('removed', 'state', literal('enqueued'))}, ${counted('state', literal('enqueued'))}`;

/** Moves jobs that wait for a time or for other jobs to ready. */
export function becomeReadyNow(from: 'scheduled' | 'awaiting'): string {
  return `${becomeReady('removed', 'id')}, ${moveNoted('removed', 'run', { runAt: 'run_at' })}, ${counted(literal(from), literal('enqueued'))}`;
}

/** Deletes finished jobs completely. Reports started during the job's lifetime, which prunes other partitions. */
export const becomeForgotten = `
    reports as (
      delete from longshore.job_report as report using removed
      where report.queue_id = removed.queue_id and report.job_id = removed.id
        and report.started_at between removed.created_at and removed.finished_at
    ), ${counted('state', null)}`;
