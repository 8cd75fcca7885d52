import type { JobState } from '@longshore/jobs';
import { endOf, isFinished } from '@longshore/jobs/storage';
import type { Stall } from './stall.js';
import { findBatchStall, findJobStall } from './stall-search.js';
import type { PageContext } from '../pages/page.js';

/** A job or batch that another job depends on, as shown on job pages. */
export interface Parent {
  readonly kind: 'job' | 'batch';
  readonly id: string;
  /** The name of the job's type or of the batch; `batch` for a batch without a name. */
  readonly name: string;
  readonly state: JobState;
  /** Why the parent is stalled; `null` if it is not stalled or the reason is unknown. */
  readonly stall: Stall | null;
}

/** Finds the job or batch with this id and, if it is stalled, the reason. Returns `null` if it has been removed. */
export async function findParent(id: string, context: PageContext): Promise<Parent | null> {
  const { reader } = context;
  const job = await reader.jobs.find(id);
  if (job !== null) {
    const { name, state } = job;
    return { kind: 'job', id, name, state, stall: await findJobStall(job, context) };
  }
  const batch = await reader.batches.find(id);
  if (batch === null) return null;
  const state = endOf(batch) ?? 'processing';
  const found = isFinished(state) ? null : await findBatchStall(id, context);
  return { kind: 'batch', id, name: batch.name ?? 'batch', state, stall: found?.stall ?? null };
}
