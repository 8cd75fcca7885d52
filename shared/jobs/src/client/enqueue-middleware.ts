import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { EnqueueRequest } from './enqueue-request.js';

/**
 * The jobs of one call, as its middleware sees them. Middleware may replace `requests` and `followUp`. Jobs of a call refer to
 * one another by their positions in `requests` (`after.parents`), so middleware that adds requests must append them.
 */
export interface EnqueueContext {
  requests: readonly EnqueueRequest[];
  /** The callback of a batch; `null` if there is none. */
  followUp: EnqueueRequest | null;
  readonly transaction: TransactionClient | undefined;
}

/**
 * Wraps each `enqueue`, `enqueueMany` and `enqueueBatch`, before arguments are checked. It may change the requests before it
 * calls `next`, or throw, so that nothing is enqueued.
 */
export type EnqueueMiddleware = Middleware<EnqueueContext, EnqueuedJob[]>;
