import { expect } from 'chai';
import type { Job, JobStorage } from '@longshore/jobs';
import { jobStates } from '@longshore/jobs/storage';
import type { Model } from './model.js';

/** Asserts that the queue's jobs and counts in the storage are the same as in the model. */
export async function expectSame(model: Model, storage: JobStorage, queue: string): Promise<void> {
  const listed = await storage.jobs.list({ filter: { queue: [queue] }, limit: 1_000 });
  const found = listed.map((job) => visible(job.id, job));
  expect(found).to.have.deep.members([...model.jobs].map(([id, job]) => visible(id, job)));
  const counts = (await storage.queues.find(queue))?.counts;
  for (const state of jobStates) {
    const jobs = [...model.jobs.values()].filter((job) => job.state === state);
    expect(counts?.[state] ?? 0, state).to.equal(jobs.length);
  }
}

function visible(
  id: string,
  { state, attempt, maxAttempts, priority }: Pick<Job, 'state' | 'attempt' | 'maxAttempts' | 'priority'>,
): object {
  return { id, state, attempt, maxAttempts, priority };
}
