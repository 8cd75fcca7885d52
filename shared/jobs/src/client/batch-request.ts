import type { ContinuationCondition } from '../job/continuation.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { EnqueueRequest } from './enqueue-request.js';

/** Jobs that are enqueued and counted together. */
export interface BatchRequest {
  /** For display; 1 to 200 characters. */
  readonly name?: string;
  readonly jobs: readonly EnqueueRequest[];
  /** The batch callback: a job that runs after all jobs of the batch have finished. */
  readonly followUp?: EnqueueRequest;
  /**
   * When the callback runs, once all jobs have finished: `onDone` (the default) if every job is done, `onFailed` if
   * at least one failed, `onAny` in any case. Otherwise it is cancelled.
   */
  readonly followUpWhen?: ContinuationCondition;
}

/** The result of enqueueing a batch. */
export interface EnqueuedBatch {
  /** UUIDv7. */
  readonly id: string;
  /** In the order of the request. */
  readonly jobs: readonly EnqueuedJob[];
  readonly followUp: EnqueuedJob | null;
}
