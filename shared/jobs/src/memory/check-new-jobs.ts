import { UnknownParentError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';

/** Looks up ids of stored jobs and batches. */
export interface KnownIds {
  /** Returns the queue of the job with this id; `undefined` if there is no such job. */
  queueOf(id: string): string | undefined;
  isBatch(id: string): boolean;
}

/**
 * Checks the ids and parents of new jobs. Each id must be unused and occur only once. Each parent must be a stored
 * job or batch, one of the new jobs, or the new batch.
 *
 * @param batchId the id of the batch that is enqueued in the same call, if any
 * @throws {Error} if an id is already used by a stored job, or occurs twice
 * @throws {UnknownParentError} if a parent does not exist or the caller cannot see it
 */
export function checkNewJobs(
  jobs: readonly NewJob[],
  batchId: string | undefined,
  storedIds: KnownIds,
): void {
  const newIds = new Set(batchId === undefined ? [] : [batchId]);
  for (const { id } of jobs) {
    if (storedIds.queueOf(id) !== undefined || newIds.has(id))
      throw new Error(`The job ${id} already exists`);
    newIds.add(id);
  }
  for (const { after, visibleQueues = null } of jobs) {
    const isVisible = (parent: string): boolean => {
      const queue = storedIds.queueOf(parent);
      if (queue === undefined) return visibleQueues === null && storedIds.isBatch(parent);
      return visibleQueues === null || visibleQueues.includes(queue);
    };
    const unknown = after?.parents.find((parent) => !newIds.has(parent) && !isVisible(parent));
    if (unknown !== undefined) throw new UnknownParentError(unknown);
  }
}
