import type { ArgsMember, InputOfJob, JobDefinition } from '../job/definition.js';
import type { OptionNames } from '../job/options.js';
import type { EnqueuedJob, EnqueueOptions, RequestedOptions } from './enqueue-options.js';
import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';

/** The parameters of `enqueue` after the definition; `args` is optional if the job has no required arguments. */
export type EnqueueRest<Input, Options = EnqueueOptions> = {} extends Input
  ? [args?: NoInfer<Input>, options?: Options]
  : [args: NoInfer<Input>, options?: Options];

/** A job to enqueue: definition, arguments and options. */
export type EnqueueRequest<Definition extends JobDefinition = JobDefinition> = {
  readonly definition: Definition;
  readonly options?: RequestedOptions;
} & ArgsMember<InputOfJob<Definition>>;

export const requestOptions: OptionNames<EnqueueRequest & { args?: unknown }> = {
  definition: true,
  args: true,
  options: true,
};

/** The jobs to enqueue in one call, each typed by its definition. */
export type EnqueueRequests<Definitions extends readonly JobDefinition[]> = {
  readonly [Index in keyof Definitions]: EnqueueRequest<Definitions[Index]>;
};

/** What the jobs of one call have in common. */
export interface EnqueueOrigin {
  /** The caller's open transaction; without one, the jobs are durable when the call resolves. */
  readonly transaction?: TransactionClient | undefined;
  /** Id of the job whose handler makes the call; `undefined` outside of handlers. */
  readonly enqueuedBy?: string | undefined;
  /** Id of the job whose handler waits for the end of the jobs of this call; `undefined` if none does. */
  readonly resumes?: string | undefined;
  /** The id of the only job of this call; by default, a new one. */
  readonly id?: string | undefined;
}

/**
 * The jobs of one call, as middleware sees them. Middleware can replace `requests` and `callback`. `after.parents`
 * refers to jobs by their index in `requests`, so new requests must be added at the end.
 */
export interface EnqueueContext extends EnqueueOrigin {
  requests: readonly EnqueueRequest[];
  /** The batch callback; `null` if there is none. */
  callback: EnqueueRequest | null;
}

/**
 * Middleware around each `enqueue`, `enqueueMany` and `enqueueBatch`, called before arguments are checked. It can
 * change the requests before it calls `next`. If it throws instead of calling `next`, the call is rejected and nothing
 * is enqueued.
 */
export type EnqueueMiddleware = Middleware<EnqueueContext, EnqueuedJob[]>;
