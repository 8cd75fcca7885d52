import type { BriefJob, JobFilter } from '@longshore/jobs/storage';
import type { DashboardReader } from './dashboard-reader.js';

/** Maximum number of jobs to examine. Low, because jobs are read with their arguments. */
const EXAMINED = 100;

/**
 * Returns the jobs that have been running or waiting for longest, longest first. Examines only the 100 jobs that were
 * created first, because storages list jobs in order of creation. With more jobs, the result is approximate: a job that
 * was scheduled or retried can start after jobs that were created later.
 */
export async function listLongest(
  state: 'processing' | 'enqueued',
  filter: Pick<JobFilter, 'queue' | 'name'>,
  limit: number,
  { jobs }: Pick<DashboardReader, 'jobs'>,
): Promise<BriefJob[]> {
  const query = { filter: { ...filter, state: [state] }, order: 'oldest', limit: EXAMINED } as const;
  const examined = (await jobs.listBrief({ ...query, reach: 'near' })).jobs;
  const since = ({ startedAt, readyAt, createdAt }: BriefJob): number =>
    (startedAt ?? readyAt ?? createdAt).getTime();
  return examined.toSorted((one, other) => since(one) - since(other)).slice(0, limit);
}
