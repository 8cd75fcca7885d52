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
  /** How many of them have ended in each way; a job that is sent back after its end is taken off again. */
  done: number;
  failed: number;
  cancelled: number;
  /** How much of it has finished: whole percent, rounded down, so 100 only when all of it has. */
  progress: number;
  /** The batch callback; `null` if there is none. */
  followUpId: string | null;
  createdAt: Date;
  /** `null` until all of its jobs have finished. */
  finishedAt: Date | null;
}

/** A batch on its way into the storage. Its jobs carry its id, and the follow-up waits for it. */
export interface NewBatch {
  readonly id: string;
  readonly name: string | null;
  readonly jobs: readonly NewJob[];
  readonly followUp: NewJob | null;
}

/** How many of a batch's jobs have ended in which way. */
export type BatchCounts = Pick<Batch, 'total' | FinishedState>;

/** Whole percent of the jobs that have finished. An empty batch is finished. */
export function progressOf({ total, done, failed, cancelled }: BatchCounts): number {
  return total === 0 ? 100 : Math.floor(((done + failed + cancelled) * 100) / total);
}

/** A batch ends as its worst job did: failed before cancelled before done. `null` while it has unfinished jobs. */
export function endOf({ total, done, failed, cancelled }: BatchCounts): FinishedState | null {
  if (done + failed + cancelled < total) return null;
  if (failed > 0) return 'failed';
  return cancelled > 0 ? 'cancelled' : 'done';
}
