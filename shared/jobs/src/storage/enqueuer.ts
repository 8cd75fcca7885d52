import type { NewBatch } from '../job/batch.js';
import type { NewJob } from '../job/job.js';
import type { EnqueueResult } from './enqueue-result.js';
import type { TransactionClient } from './transaction.js';

/** Stores new jobs and batches. */
export interface Enqueuer {
  /** Resolves once the job is durable. Concurrent calls may share one write. Throws as {@link enqueueMany} does. */
  enqueue(job: NewJob): Promise<EnqueueResult>;
  /**
   * Enqueues all jobs or none. In a caller's transaction, they become visible when it commits and disappear if it
   * rolls back. A job whose key another job holds is not created; if another open transaction has taken the key, the
   * call waits for it. Resolves to the jobs that hold the keys.
   *
   * @throws {DuplicateJobError} if another job holds a key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if an idempotency key was used for a different request
   * @throws {UnknownParentError} if a job depends on one that does not exist
   * @throws {TypeError} if the storage does not support such a transaction
   */
  enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Enqueues a batch with its jobs and its callback: all or nothing. Jobs that are not created because others hold
   * their keys are not part of the batch. Otherwise as {@link enqueueMany}.
   */
  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult>;
}
