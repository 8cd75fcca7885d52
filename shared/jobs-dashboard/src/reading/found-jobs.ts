import { type Job, type JobListQuery, type JobReader, StorageUnavailableError } from '@longshore/jobs';
import { soon } from './deadline.js';

export interface FoundJobs {
  readonly jobs: Job[];
  /** There may be more, which are still sought. */
  readonly partial: boolean;
  /** There may be more, which the storage gave up to seek. */
  readonly gaveUp: boolean;
}

/** The nearest jobs, and all others as soon as they are found. */
export async function seekJobs(
  query: JobListQuery,
  reader: Pick<JobReader, 'listNearJobs' | 'listJobs'>,
): Promise<FoundJobs> {
  const near = await reader.listNearJobs(query);
  if (near.complete) return { jobs: near.jobs, partial: false, gaveUp: false };
  try {
    const whole = await soon(reader.listJobs(query));
    return { jobs: whole ?? near.jobs, partial: whole === undefined, gaveUp: false };
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    return { jobs: near.jobs, partial: false, gaveUp: true };
  }
}
