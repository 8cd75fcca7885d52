import { endOf, type JobState } from '@longshore/jobs';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** What a job waits or waited for: a job or a batch. */
export interface Parent {
  readonly kind: 'job' | 'batch';
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  readonly state: JobState;
}

/** `null` if it has been removed since. */
export async function findParent(id: string, reader: DashboardReader): Promise<Parent | null> {
  const job = await reader.findJob(id);
  if (job !== null) return { kind: 'job', id, name: job.name, state: job.state };
  const batch = await reader.findBatch(id);
  if (batch === null) return null;
  return { kind: 'batch', id, name: batch.name ?? 'batch', state: endOf(batch) ?? 'processing' };
}
