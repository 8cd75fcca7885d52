import type { Forms } from '../connection/statement.js';
import { type FinishedState, maxKeptAttempts } from '@longshore/jobs/storage';

/** The columns that all job tables have. */
export const jobColumns = `queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts`;

/** The columns that are copied to history when a claimed job ends. */
export const attemptColumns = `queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts`;

/** The tables of unfinished jobs, in the order in which they are searched. */
export const liveTables = ['job', 'job_blocked', 'job_scheduled', 'job_awaiting'] as const;

export type LiveTable = (typeof liveTables)[number];

/** SQL expressions for the state of a row, by table. */
export const stateIn: Readonly<Record<LiveTable, string>> = {
  job: `case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state`,
  job_blocked: `'enqueued'::longshore.job_state`,
  job_scheduled: `'scheduled'::longshore.job_state`,
  job_awaiting: `'awaiting'::longshore.job_state`,
};

/**
 * Combines one query per live table with `union all`. A job moves between tables in a single transaction, so a snapshot
 * never shows the job in two of them.
 */
export function inLiveTables(select: (table: LiveTable) => string): string {
  return liveTables.map(select).join('\n      union all ');
}

/**
 * SQL expression for the past attempts of a job without its second, if it has as many as are kept; a list to which another
 * can be added. The first is kept because it alone shows whether the job was created ready or scheduled.
 */
export const otherAttempts = `case when past_attempts -> ${maxKeptAttempts - 2} is not null then past_attempts - 1
  else coalesce(past_attempts, '[]') end`;

/** SQL expression for the latest error of an unfinished job. */
export const lastError = `past_attempts -> -1 -> 'error'`;

/** SQL expression for the metadata of a job in `job_awaiting`, with its delay. */
export const metaWithDelay = `case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end`;

export const waiting = (
  state: 'scheduled' | 'awaiting' | 'enqueued',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  ${state === 'awaiting' ? `${metaWithDelay} as meta` : 'meta'}, past_attempts`;

export const ready = (state: string): string => `id, queue_id, ${state} as state, name,
  priority, args, null::jsonb as result, ${lastError} as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts`;

/** The select list for jobs that are blocked by a concurrency key. */
export const blocked = waiting('enqueued');

/** The select list for jobs in the view `job_history`. */
export const finished = `id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/** Returns the select list for jobs in the history table of one final state. */
export const finishedAs = (
  state: FinishedState,
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
  created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/**
 * Subquery for the running jobs of a queue; the outer query must provide `queue.id`. Running jobs are near the head of
 * the queue, and the counters contain their number. The scan therefore stops after the last running job, except on Citus,
 * which supports no such limit for each queue.
 */
export const running: Forms<string> = {
  none: `
  select * from longshore.job where queue_id = queue.id and server_id is not null
  order by priority, seq
  limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = queue.id and state = 'processing')`,
  citus: `
  select * from longshore.job where queue_id = queue.id and server_id is not null`,
};

/** The select list for jobs in each live table. */
export const columnsIn: Readonly<Record<LiveTable, string>> = {
  job: ready(stateIn.job),
  job_blocked: blocked,
  job_scheduled: waiting('scheduled'),
  job_awaiting: waiting('awaiting'),
};
