import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { EnqueueRequest } from './enqueue-request.js';

/**
 * The jobs of one call, as middleware sees them. Middleware may replace `requests` and `callback`. Jobs refer to one
 * another by their index in `requests` (`after.parents`), so added requests must be appended.
 */
export interface EnqueueContext {
  requests: readonly EnqueueRequest[];
  /** The batch callback; `null` if there is none. */
  callback: EnqueueRequest | null;
  readonly transaction: TransactionClient | undefined;
}

/**
 * Wraps each `enqueue`, `enqueueMany` and `enqueueBatch` before arguments are checked. It may change the requests
 * before it calls `next`, or throw to reject the call, in which case nothing is enqueued.
 */
export type EnqueueMiddleware = Middleware<EnqueueContext, EnqueuedJob[]>;
