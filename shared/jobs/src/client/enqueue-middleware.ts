import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { EnqueuedJob } from './enqueue-options.js';
import type { JobOrder } from './job-order.js';

/**
 * What middleware around enqueueing sees: all jobs of one call. It may replace `orders` and `followUp`. Jobs of a call name
 * one another by their places in `orders` (`after.parents`), so middleware that adds orders appends them.
 */
export interface EnqueueContext {
  orders: readonly JobOrder[];
  /** The job that waits for those of a batch; `null` if none does, and outside of batches. */
  followUp: JobOrder | null;
  readonly transaction: TransactionClient | undefined;
}

/**
 * Stands around each `enqueue`, `enqueueMany` and `enqueueBatch`, outside of the checks of arguments. It changes the orders of its
 * context before `next`, or throws so that nothing is enqueued.
 */
export type EnqueueMiddleware = Middleware<EnqueueContext, EnqueuedJob[]>;
