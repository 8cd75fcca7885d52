import { UnknownParentError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';

/** Looks up the ids that the storage knows. */
export interface KnownIds {
  /** The queue of the job with this id; `undefined` if there is none. */
  queueOf(id: string): string | undefined;
  isBatch(id: string): boolean;
}

/**
 * @param batchId the batch that is enqueued in the same call
 * @throws {Error} if an id is taken
 * @throws {UnknownParentError} if a job depends on something that does not exist or is not visible to it
 */
export function checkNewJobs(jobs: readonly NewJob[], batchId: string | undefined, known: KnownIds): void {
  const coming = new Set(batchId === undefined ? [] : [batchId]);
  for (const { id } of jobs) {
    if (known.queueOf(id) !== undefined || coming.has(id)) throw new Error(`The job ${id} already exists`);
    coming.add(id);
  }
  for (const { after, visibleQueues = null } of jobs) {
    const isVisible = (parent: string): boolean => {
      const queue = known.queueOf(parent);
      if (queue === undefined) return visibleQueues === null && known.isBatch(parent);
      return visibleQueues === null || visibleQueues.includes(queue);
    };
    const unknown = after?.parents.find((parent) => !coming.has(parent) && !isVisible(parent));
    if (unknown !== undefined) throw new UnknownParentError(unknown);
  }
}
