import type { ArgsMember, InputOfJob, JobDefinition } from '../job/definition.js';
import type { OptionNames } from '../job/options.js';
import type { EnqueuedJob, EnqueueOptions } from './enqueue-options.js';
import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';

/** The parameters of `enqueue` after the definition; `args` is optional if the job has no required arguments. */
export type EnqueueRest<Input> = {} extends Input
  ? [args?: NoInfer<Input>, options?: EnqueueOptions]
  : [args: NoInfer<Input>, options?: EnqueueOptions];

/** A job to enqueue: definition, arguments and options. */
export type EnqueueRequest<Definition extends JobDefinition = JobDefinition> = {
  readonly definition: Definition;
  readonly options?: Omit<EnqueueOptions, 'transaction'>;
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

/**
 * The jobs of one call, as middleware sees them. Middleware can replace `requests` and `callback`. `after.parents`
 * refers to jobs by their index in `requests`, so new requests must be added at the end.
 */
export interface EnqueueContext {
  requests: readonly EnqueueRequest[];
  /** The batch callback; `null` if there is none. */
  callback: EnqueueRequest | null;
  readonly transaction: TransactionClient | undefined;
}

/**
 * Middleware around each `enqueue`, `enqueueMany` and `enqueueBatch`, called before arguments are checked. It can
 * change the requests before it calls `next`. If it throws instead of calling `next`, the call is rejected and nothing
 * is enqueued.
 */
export type EnqueueMiddleware = Middleware<EnqueueContext, EnqueuedJob[]>;
