import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { EnqueueRequest } from './enqueue-request.js';

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
