import { isId } from '@longshore/jobs';
import type { JobRow } from './job-row.js';
import type { Run } from '../connection/run.js';
import { findJob } from './find-jobs.sql.js';

/** The job as a transaction sees it; `undefined` if there is none. */
export async function findRowOn(run: Run, id: string): Promise<JobRow | undefined> {
  if (!isId(id)) return undefined;
  const [row] = await run(findJob, [id, null]);
  return row as JobRow | undefined;
}
