import type { ContinuationCondition } from '../job/continuation.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { JobOrder } from './job-order.js';

/** Jobs to be counted together. */
export interface BatchOrder {
  /** 1 to 200 characters, for people. */
  readonly name?: string;
  readonly jobs: readonly JobOrder[];
  /** A job that waits for all of them. */
  readonly followUp?: JobOrder;
  /**
   * The end of the batch that the follow-up waits for: `onDone` (the default) all jobs done, `onFailed` at least one failed,
   * `onAny` all finished in whatever way.
   */
  readonly followUpWhen?: ContinuationCondition;
}

/** What the caller learns about the batch that it handed over. */
export interface EnqueuedBatch {
  /** UUIDv7. */
  readonly id: string;
  /** In the order in which they were given. */
  readonly jobs: readonly EnqueuedJob[];
  readonly followUp: EnqueuedJob | null;
}
