import { UnknownParentError } from '../../job/errors.js';
import type { NewJob } from '../../job/job.js';

/**
 * @param isKnown whether there is a job with this id
 * @param isBatch whether there is a batch with this id, or will be
 * @throws {Error} if an id is taken
 * @throws {UnknownParentError} if a job is to wait for something that is not there
 */
export function checkNewJobs(
  jobs: readonly NewJob[],
  isKnown: (id: string) => boolean,
  isBatch: (id: string) => boolean,
): void {
  const ids = new Set<string>();
  for (const { id } of jobs) {
    if (isKnown(id) || ids.has(id)) throw new Error(`There is a job ${id} already`);
    ids.add(id);
  }
  for (const parent of jobs.flatMap(({ after }) => after?.parents ?? [])) {
    if (!ids.has(parent) && !isBatch(parent) && !isKnown(parent)) throw new UnknownParentError(parent);
  }
}
