import type { BriefJob, JobFilter } from '@longshore/jobs/storage';
import { whenOf } from '../pages/job-row.js';
import type { DashboardReader } from './dashboard-reader.js';

/** Maximum number of jobs to examine. Reading this many from Postgres took 30 ms. */
const EXAMINED = 500;

/**
 * Returns the jobs that have been running or waiting for longest, longest first. Examines the 500 jobs that were
 * created first, because storages list jobs in order of creation, but a job can start long after that: it may have been
 * scheduled or retried.
 */
export async function listLongest(
  state: 'processing' | 'enqueued',
  filter: Pick<JobFilter, 'queue' | 'name'>,
  limit: number,
  { jobs }: Pick<DashboardReader, 'jobs'>,
): Promise<BriefJob[]> {
  const query = { filter: { ...filter, state: [state] }, order: 'oldest', limit: EXAMINED } as const;
  const examined = (await jobs.listBrief({ ...query, reach: 'near' })).jobs;
  const since = (job: BriefJob): number => whenOf(job).at.getTime();
  return examined.toSorted((one, other) => since(one) - since(other)).slice(0, limit);
}
