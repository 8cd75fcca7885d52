import type { NewBatch } from '../job/batch.js';
import type { NewJob } from '../job/job.js';
import type { EnqueueResult } from './enqueue-result.js';
import type { LocalServer } from './local-server.js';
import type { TransactionClient } from './transaction.js';

/**
 * New jobs, either as one list or as an async sequence of slices. With slices, the next slice can be built while the
 * storage writes the previous ones.
 */
export type NewJobs = readonly NewJob[] | AsyncIterable<readonly NewJob[]>;

/** Reads all slices and returns their jobs as one list. */
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
   * write. If the caller passes a transaction, the jobs become visible when it commits and disappear if it rolls back.
   * A job is not created if another job holds one of its keys; the result then contains the holder's id. If another
   * open transaction has taken a key, the call waits until that transaction ends. If `jobs` is an async sequence and
   * throws, nothing is enqueued and the call rejects with that error.
   *
   * @throws {DuplicateJobError} if another job holds a key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if an idempotency key was used for a different request
   * @throws {KeyHolderHiddenError} if a job requests its key holder with `includesHolder`, but the holder was deleted
   *   or is in a queue that the caller cannot see
   * @throws {UnknownParentError} if a job depends on a job or batch that does not exist
   * @throws {TypeError} if the storage does not support the caller's transaction
   */
  enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Enqueues a batch with its jobs and callback, all or nothing, in the same way as {@link enqueue}. A job that is not
   * created because another job holds its key is not part of the batch.
   */
  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Registers a server in this process, so that new jobs can start on it directly, before other servers can claim them.
   * Returns a function that unregisters the server. Absent if claims are so cheap that direct starts would save
   * nothing.
   */
  startOn?(server: LocalServer): () => void;
}
