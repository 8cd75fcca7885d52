import { bounds, maxCountedAttempts } from '@longshore/jobs/storage';
import { jobColumns, otherAttempts } from '../read/job-columns.sql.js';
import { becomeReady } from '../enqueue/become-ready.sql.js';
import { transitionRecorded } from '../read/job-transitions.sql.js';
import { awaitingCancelled } from '../dependencies/awaiting-jobs.sql.js';
import { outboxEntries } from '../dependencies/outbox.sql.js';

/**
 * The CTEs in this file carry out operators' actions on one or many jobs. They must follow a CTE named `removed` that
 * deletes the jobs from a table and returns their rows.
 */

/**
 * Returns the CTE `counted`, which updates the counters.
 *
 * @param from SQL expression for the previous state
 * @param to SQL expression for the new state; `null` if the jobs are deleted
 * @param source the CTE with the jobs
 */
function counted(from: string, to: string | null, source = 'removed'): string {
  const change = (state: string, jobs: string): string =>
    `select queue_id, ${state}, ${jobs} from ${source} group by queue_id, ${state}`;
  return `
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      ${change(from, '-count(*)')} ${to === null ? '' : `union all ${change(to, 'count(*)')}`}
    )`;
}

const literal = (state: string): string => `'${state}'::longshore.job_state`;

/**
 * Returns CTEs that cancel scheduled, awaiting, ready or blocked jobs.
 *
 * @param columns the columns to copy to history; not used for awaiting jobs
 */
export function becomeCancelled(from: 'scheduled' | 'awaiting' | 'enqueued', columns = jobColumns): string {
  const moved =
    from === 'awaiting'
      ? awaitingCancelled()
      : `
    history as (
      insert into longshore.job_history_cancelled (${columns}) select ${columns} from removed
    ), ${outboxEntries('removed', literal(from), literal('cancelled'))}`;
  return `${moved}, ${counted(literal(from), literal('cancelled'))}`;
}

/** SQL expression for the number of attempts that a retried job has had, limited so that one more is possible. */
const attemptsSoFar = `least(attempt, ${maxCountedAttempts - 1})`;

/** SQL condition on a history row: the job was cancelled while it waited for other jobs. */
export const neverStarted = `attempt = 0 and state = 'cancelled'
  and exists (select 1 from longshore.job_dependency where child_id = id and not met)`;

/**
 * Returns CTEs that make finished jobs ready again, or make them wait for other jobs again. An attempt that ended with
 * an error is added to the past attempts. If no attempt is left, one more is allowed. Values out of range are clamped.
 *
 * @param waits SQL condition for the jobs that must wait for other jobs again
 */
export function becomeReadyAgain(waits: string): string {
  const next = `case when waits then 'awaiting' else 'enqueued' end::longshore.job_state`;
  return `
    again as materialized (select removed.*, ${waits} as waits from removed),
    revived as (
      select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
        least(greatest(priority, ${bounds.priority.min}), ${bounds.priority.max})::smallint as priority, ${attemptsSoFar} as attempt,
        least(greatest(max_attempts, ${attemptsSoFar} + 1), ${maxCountedAttempts})::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
        else ${otherAttempts} || jsonb_build_object(
          'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
        end as past_attempts
      from again
    ),
    ${becomeReady('(select * from revived where not waits) as arriving', 'id')},
    restored as (
      insert into longshore.job_awaiting (${jobColumns}, delay_ms)
      select ${jobColumns}, (meta ->> 'delayMs')::float8 from revived where waits
    ),
    reopened as (
      update longshore.job_dependency set resolved_at = null, marked = false
      where child_id = any (array(select id from again where waits)) and not met
    ),
    ${transitionRecorded('again', 'retried', {
      waits: 'case when waits then true end',
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
    ${outboxEntries('again', 'state', next)}, ${counted('state', next, 'again')}`;
}

/** Returns CTEs that make scheduled or awaiting jobs ready, even if they are not due. */
export function becomeReadyNow(from: 'scheduled' | 'awaiting'): string {
  return `${becomeReady('removed', 'id')}, ${transitionRecorded('removed', 'run', { runAt: 'run_at' })}, ${counted(literal(from), literal('enqueued'))}`;
}

/**
 * CTEs that delete the reports of the removed finished jobs and update the counters. The condition on `started_at`
 * keeps Postgres from searching the partitions of other days.
 */
export const deleteWithReports = `
    reports as (
      delete from longshore.job_report as report using removed
      where report.queue_id = removed.queue_id and report.job_id = removed.id
        and report.started_at between removed.created_at and removed.finished_at
    ), ${counted('state', null)}`;
