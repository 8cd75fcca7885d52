import type { ContinuationCondition } from './continuation.js';
import type { NewJob } from './job.js';
import type { FinishedState } from './state.js';

/** Jobs that are enqueued and counted together. */
export interface Batch {
  /** UUIDv7. */
  id: string;
  /** `processing` until all jobs have finished; then that of the worst job: failed before cancelled before done. */
  state: BatchState;
  /** For display; `null` if the batch has no name. */
  name: string | null;
  /** Number of jobs in the batch, not including the callback. */
  total: number;
  /** Number of jobs that ended as `done`. */
  done: number;
  /** Number of jobs that ended as `failed`. A job that is being retried is not counted until it ends again. */
  failed: number;
  /** Number of jobs that ended as `cancelled`. A job that is being retried is not counted until it ends again. */
  cancelled: number;
  /** Percentage of jobs that have finished, rounded down; 100 only if all jobs have finished. */
  percent: number;
  /** Id of the batch callback; `null` if there is none. */
  callbackId: string | null;
  /** How the batch must end for the callback to run; `null` if there is no callback. */
  callbackWhen: ContinuationCondition | null;
  createdAt: Date;
  /** When the last job in the batch finished; `null` while any job is unfinished. */
  finishedAt: Date | null;
}

/** A batch to store. Each job's metadata contains the batch's id. The callback depends on the batch. */
export interface NewBatch {
  readonly id: string;
  readonly name: string | null;
  readonly jobs: readonly NewJob[];
  readonly callback: NewJob | null;
}

/** The number of jobs in a batch, and how many of them have ended in each state. */
export type BatchCounts = Pick<Batch, 'total' | FinishedState>;

/** The states of batches: `processing` until all jobs have finished. */
export const batchStates = ['processing', 'done', 'failed', 'cancelled'] as const;

export type BatchState = (typeof batchStates)[number];

/** Returns the state of a batch and the percentage of its finished jobs: rounded down, 100 for an empty batch. */
export function progressOf(counts: BatchCounts): Pick<Batch, 'state' | 'percent'> {
  const { total, done, failed, cancelled } = counts;
  const percent = total === 0 ? 100 : Math.floor(((done + failed + cancelled) * 100) / total);
  return { state: endOf(counts) ?? 'processing', percent };
}

/**
 * Returns how a batch ended: `failed` if any job failed, otherwise `cancelled` if any was cancelled, otherwise
 * `done`. Returns `null` while jobs are unfinished.
 */
export function endOf({ total, done, failed, cancelled }: BatchCounts): FinishedState | null {
  if (done + failed + cancelled < total) return null;
  if (failed > 0) return 'failed';
  return cancelled > 0 ? 'cancelled' : 'done';
}
