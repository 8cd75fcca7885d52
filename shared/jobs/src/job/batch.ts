import type { NewJob } from './job.js';
import type { FinishedState } from './state.js';

/** Jobs that are enqueued and counted together. */
export interface Batch {
  /** UUIDv7. */
  id: string;
  /** For display; `null` if it has no name. */
  name: string | null;
  /** Number of jobs in the batch. */
  total: number;
  /** How many jobs have ended in each state; a job that is retried no longer counts. */
  done: number;
  failed: number;
  cancelled: number;
  /** Percentage of finished jobs, rounded down, so it is 100 only when all have finished. */
  progress: number;
  /** The batch callback; `null` if there is none. */
  followUpId: string | null;
  createdAt: Date;
  /** `null` while any of its jobs is unfinished. */
  finishedAt: Date | null;
}

/** A batch to be stored. Its jobs carry its id, and the callback depends on it. */
export interface NewBatch {
  readonly id: string;
  readonly name: string | null;
  readonly jobs: readonly NewJob[];
  readonly followUp: NewJob | null;
}

/** How many of a batch's jobs have ended in each state. */
export type BatchCounts = Pick<Batch, 'total' | FinishedState>;

/** Returns the percentage of finished jobs, rounded down. An empty batch is finished. */
export function progressOf({ total, done, failed, cancelled }: BatchCounts): number {
  return total === 0 ? 100 : Math.floor(((done + failed + cancelled) * 100) / total);
}

/** Returns the worst end of its jobs: failed before cancelled before done. `null` while jobs are unfinished. */
export function endOf({ total, done, failed, cancelled }: BatchCounts): FinishedState | null {
  if (done + failed + cancelled < total) return null;
  if (failed > 0) return 'failed';
  return cancelled > 0 ? 'cancelled' : 'done';
}
