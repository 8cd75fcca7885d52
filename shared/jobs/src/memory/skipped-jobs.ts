import { skippedErrorName } from '../job/continuation.js';
import type { JobRecord } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';

/**
 * Returns the ids under which dependents can refer to this job as a parent: the job's id, and the id of its batch if it
 * has one.
 */
export function parentIdsOf({ id, meta }: JobRecord): string[] {
  return meta?.batchId === undefined ? [id] : [id, meta.batchId];
}

/**
 * Returns the jobs that were skipped because of these parents, directly or through other skipped jobs. The search is
 * breadth-first, so a skipped parent comes before the dependents found through it.
 *
 * @param visibleQueues jobs in other queues are not found, and neither is what was skipped because of them; `null` for all
 */
export function skippedBecauseOf(
  parents: readonly string[],
  jobs: Pick<MemoryJobs, 'dependencies' | 'find'>,
  visibleQueues: readonly string[] | null = null,
): JobRecord[] {
  const seen = new Set(parents.map((id) => id.toLowerCase()));
  const skipped: JobRecord[] = [];
  for (const parent of seen) {
    for (const dependent of jobs.dependencies.dependentsOf(parent)) {
      const record = jobs.find(dependent);
      if (record === undefined || seen.has(record.id) || !isSkipped(record)) continue;
      if (visibleQueues !== null && !visibleQueues.includes(record.queue)) continue;
      for (const id of parentIdsOf(record)) seen.add(id); // the outer loop also visits ids added here
      skipped.push(record);
    }
  }
  return skipped;
}

function isSkipped({ state, attempt, error }: JobRecord): boolean {
  return state === 'cancelled' && attempt === 0 && error?.name === skippedErrorName;
}
