import type { FinishedState } from '@longshore/jobs/storage';

/** The columns that every table of jobs has. */
export const jobColumns = `queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts`;

/** The columns that history keeps of a job that has run. */
export const attemptColumns = `queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts`;

/** The tables of unfinished jobs, in the order in which they are searched. */
export const liveTables = ['job', 'job_blocked', 'job_scheduled', 'job_awaiting'] as const;

export type LiveTable = (typeof liveTables)[number];

/** The state of a row, by its table. */
export const stateIn: Readonly<Record<LiveTable, string>> = {
  job: `case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state`,
  job_blocked: `'enqueued'::longshore.job_state`,
  job_scheduled: `'scheduled'::longshore.job_state`,
  job_awaiting: `'awaiting'::longshore.job_state`,
};

/**
 * Builds a search for a job through one table after another. A job moves between tables in a single transaction, so a
 * snapshot shows the job in exactly one of them or in history.
 */
export function inLiveTables(select: (table: LiveTable) => string): string {
  return liveTables.map(select).join('\n      union all ');
}

/** The latest error of an unfinished job. */
export const lastError = `past_attempts -> -1 -> 'error'`;

export const waiting = (
  state: 'scheduled' | 'awaiting' | 'enqueued',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

export const ready = (state: string): string => `id, queue_id, ${state} as state, name,
  priority, args, null::jsonb as result, ${lastError} as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts`;

/** The columns of a job that a concurrency key blocks. */
export const blocked = waiting('enqueued');

/** The columns of a job in the view `job_history`. */
export const finished = `id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/** The columns of a job in the history table of one outcome. */
export const finishedAs = (
  state: FinishedState,
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
  created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/**
 * SQL for the running jobs of `queue`, which must be a row of `longshore.queue`. They are near the head of the queue
 * and their number is known, so the scan stops after the last of them.
 */
export const running = `
  select * from longshore.job where queue_id = queue.id and server_id is not null
  order by priority, seq
  limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = queue.id and state = 'processing')`;

/** The columns of a job, by the table that it is in. */
export const columnsIn: Readonly<Record<LiveTable, string>> = {
  job: ready(stateIn.job),
  job_blocked: blocked,
  job_scheduled: waiting('scheduled'),
  job_awaiting: waiting('awaiting'),
};
