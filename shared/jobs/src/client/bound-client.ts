import type { JobDefinition } from '../job/definition.js';
import type { BatchRequest, EnqueuedBatch } from './batch-request.js';
import type { EnqueuedJob, EnqueuedJobs, RequestedOptions } from './enqueue-options.js';
import type { JsonValue } from '../job/job.js';
import type { EnqueueRequests, EnqueueRest } from './enqueue-request.js';
import type { RequestedSignalOptions, SignalTarget } from './send-signal.js';

/**
 * The methods of a `JobClient` that enqueue and signal, for one occasion, such as the run of a handler. The occasion decides about the
 * transaction, so they do not take one. They need no `this`, so they can be destructured. A `JobClient` fits wherever
 * only these methods are needed.
 */
export interface BoundClient {
  /** Enqueues one job, as `JobClient.enqueue` does. */
  readonly enqueue: <Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    ...rest: EnqueueRest<Input, RequestedOptions>
  ) => Promise<EnqueuedJob<Input, Result>>;
  /** Enqueues several jobs, either all or none, as `JobClient.enqueueMany` does. */
  readonly enqueueMany: <const Definitions extends readonly JobDefinition[]>(
    requests: EnqueueRequests<Definitions>,
  ) => Promise<EnqueuedJobs<Definitions>>;
  /** Enqueues a batch and its callback, either completely or not at all, as `JobClient.enqueueBatch` does. */
  readonly enqueueBatch: <
    const Definitions extends readonly JobDefinition[],
    Callback extends JobDefinition = JobDefinition,
  >(
    request: BatchRequest<Definitions, Callback>,
  ) => Promise<EnqueuedBatch<Definitions, Callback>>;
  /** Sends a signal, as `JobClient.sendSignal` does. */
  readonly sendSignal: (
    target: SignalTarget,
    name: string,
    data?: JsonValue,
    options?: RequestedSignalOptions,
  ) => Promise<string[]>;
}

declare module '@longshore/edge' {
  /** Operations of resources enqueue with the methods of the client. */
  interface OperationJobs extends BoundClient {}
}
