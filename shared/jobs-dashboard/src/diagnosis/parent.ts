import { endOf, isFinished, type JobState } from '@longshore/jobs';
import type { Stall } from './stall.js';
import { findBatchStall, findJobStall } from './stall-search.js';
import type { PageContext } from '../pages/page.js';

/** What a job waits or waited for: a job or a batch. */
export interface Parent {
  readonly kind: 'job' | 'batch';
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  readonly state: JobState;
  /** Why nothing goes on there, if it is not finished. */
  readonly stall: Stall | null;
}

/** `null` if it has been removed since. */
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
