import type { ContinuationCondition } from '../job/continuation.js';
import type { JobDefinition } from '../job/definition.js';
import type { OptionNames } from '../job/options.js';
import type { EnqueuedJobOf, EnqueuedJobs } from './enqueue-options.js';
import type { EnqueueRequest, EnqueueRequests } from './enqueue-request.js';

/** A batch to enqueue: jobs that are counted together, and an optional callback. */
export interface BatchRequest<
  Definitions extends readonly JobDefinition[] = readonly JobDefinition[],
  Callback extends JobDefinition = JobDefinition,
> {
  /** For display; 1 to 200 characters. */
  readonly name?: string;
  readonly jobs: EnqueueRequests<Definitions>;
  /** The batch callback: a job that runs after all jobs in the batch have finished. */
  readonly callback?: EnqueueRequest<Callback>;
  /**
   * The condition for running the callback, checked once all jobs have finished: `onDone` (the default) requires that
   * every job is done, `onFailed` requires that at least one failed, and `onAny` is always met. If the condition is not
   * met, the callback is cancelled.
   */
  readonly callbackWhen?: ContinuationCondition;
}

export const batchOptions: OptionNames<BatchRequest> = {
  name: true,
  jobs: true,
  callback: true,
  callbackWhen: true,
};

/** The result of enqueueing a batch. */
export interface EnqueuedBatch<
  Definitions extends readonly JobDefinition[] = readonly JobDefinition[],
  Callback extends JobDefinition = JobDefinition,
> {
  /** UUIDv7. */
  readonly id: string;
  /** The results for the jobs, in the order of the request. */
  readonly jobs: EnqueuedJobs<Definitions>;
  readonly callback: EnqueuedJobOf<Callback> | null;
}
