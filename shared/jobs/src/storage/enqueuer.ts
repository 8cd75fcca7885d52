import type { NewBatch } from '../job/batch.js';
import type { NewJob } from '../job/job.js';
import type { EnqueueResult } from './enqueue-result.js';
import type { TransactionClient } from './transaction.js';

/** New jobs, either in one list or in slices; each slice is built while the storage writes the previous ones. */
export type NewJobs = readonly NewJob[] | AsyncIterable<readonly NewJob[]>;

/** Collects all jobs into one list. */
export async function collectJobs(jobs: NewJobs): Promise<readonly NewJob[]> {
  if (!(Symbol.asyncIterator in jobs)) return jobs;
  const all: NewJob[] = [];
  for await (const slice of jobs) for (const job of slice) all.push(job);
  return all;
}

/** Stores new jobs and batches. */
export interface Enqueuer {
  /**
   * Enqueues all jobs or none, and resolves once they are durable. Calls with a single job may be combined into one
   * write. In a caller's transaction, the jobs become visible when the transaction commits and disappear if it rolls
   * back. A job whose key is held by another job is not created; the result contains the holder's id. If another open
   * transaction has taken a key, the call waits until that transaction ends. If building a slice throws, nothing is
   * enqueued and the call rejects with that error.
   *
   * @throws {DuplicateJobError} if another job holds a key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if an idempotency key was used for a different request
   * @throws {UnknownParentError} if a job depends on one that does not exist
   * @throws {TypeError} if the storage does not support the caller's transaction
   */
  enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Enqueues a batch with its jobs and its callback, all or nothing. Jobs that are not created because other jobs hold
   * their keys are not part of the batch. Otherwise like {@link enqueue}.
   */
  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult>;
}
