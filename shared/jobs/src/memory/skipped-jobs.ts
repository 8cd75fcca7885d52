import { skippedName } from '../job/continuation.js';
import type { JobRecord } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';

/** Returns the ids of a job and its batch, on which other jobs may depend. */
export function parentsIn({ id, meta }: JobRecord): string[] {
  return meta?.batchId === undefined ? [id] : [id, meta.batchId];
}

/**
 * Returns the jobs that were skipped because of these jobs and batches, directly or through other skipped jobs, parents
 * first.
 */
export function skippedBecauseOf(
  parents: readonly string[],
  jobs: Pick<MemoryJobs, 'dependencies' | 'find'>,
): JobRecord[] {
  const seen = new Set(parents.map((id) => id.toLowerCase()));
  const skipped: JobRecord[] = [];
  for (const parent of seen) {
    for (const dependent of jobs.dependencies.dependentsOf(parent)) {
      const record = jobs.find(dependent);
      if (record === undefined || seen.has(record.id) || !isSkipped(record)) continue;
      for (const id of parentsIn(record)) seen.add(id); // the loop continues with these
      skipped.push(record);
    }
  }
  return skipped;
}

function isSkipped({ state, attempt, error }: JobRecord): boolean {
  return state === 'cancelled' && attempt === 0 && error?.name === skippedName;
}
