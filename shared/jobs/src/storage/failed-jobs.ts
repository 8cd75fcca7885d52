import type { Job } from '../job/job.js';

export interface LatestFailedQuery {
  /** Only jobs of this queue. */
  readonly queue?: string;
  readonly limit: number;
}

/** What people look at first when something is wrong. */
export interface FailedJobsReader {
  /** Failed jobs by the time at which they failed, the latest first, whenever they were created. */
  listLatestFailed(query: LatestFailedQuery): Promise<Job[]>;
}
