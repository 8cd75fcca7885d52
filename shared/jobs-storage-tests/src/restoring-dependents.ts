import type { JobState } from '@longshore/jobs';
import { type Claim, newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { it } from 'mocha';
import { BulkFixture } from './bulk-fixture.js';
import { childOf, outcomeOf, resolveAll } from './dependent-job.js';
import { type Fixture, newJob } from './storage-under-test.js';

/** Tests of retrying jobs together with their skipped dependents. */
export function restoringDependents(fixture: Fixture): void {
  const bulk = new BulkFixture(fixture);
  const statesOf = async (...ids: string[]): Promise<(JobState | undefined)[]> => {
    const jobs = await Promise.all(ids.map((id) => fixture.storage.jobs.find(id)));
    return jobs.map((job) => job?.state);
  };
  const claimIn = async (queue: string): Promise<Claim> => {
    const { id: serverId } = await fixture.register(queue);
    const [claimed] = await fixture.claim(serverId, queue, 1);
    if (claimed === undefined) throw new Error('Nothing could be claimed');
    return claimed.claim;
  };
  /** Fails the first of three jobs, each of which depends on the previous one. */
  const failedChain = async (): Promise<{
    queue: string;
    root: string;
    child: string;
    grandchild: string;
  }> => {
    const queue = fixture.newQueue();
    const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
    const { id: child } = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    const { id: grandchild } = await fixture.enqueue(fixture.newQueue(), childOf([child]));
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(claim.jobId, child, grandchild)).to.deep.equal([
      'failed',
      'cancelled',
      'cancelled',
    ]);
    return { queue, root: claim.jobId, child, grandchild };
  };

  it('restores the whole chain of skipped dependents with a retried job, if requested', async () => {
    const { queue, root, child, grandchild } = await failedChain();
    expect(await fixture.storage.jobs.countSkipped([root])).to.deep.equal({ count: 2, exact: true });
    await fixture.storage.control.retry(root, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(root, child, grandchild)).to.deep.equal(['enqueued', 'awaiting', 'awaiting']);
    const claim = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(root, child, grandchild)).to.deep.equal(['done', 'enqueued', 'awaiting']);
    const transitions = await fixture.storage.reports.listTransitions(child);
    expect(transitions.map(({ state, reason }) => `${state}: ${reason}`)).to.deep.equal([
      'awaiting: created',
      'cancelled: cancelled',
      'awaiting: retried',
      'enqueued: parents-ended',
    ]);
  });

  it('leaves skipped dependents cancelled unless requested', async () => {
    const { root, child } = await failedChain();
    await fixture.storage.control.retry(root);
    await resolveAll(fixture.storage);
    expect(await statesOf(root, child)).to.deep.equal(['enqueued', 'cancelled']);
  });

  it('does not start a retried dependent whose parent has failed', async () => {
    const { child } = await failedChain();
    await fixture.storage.control.retry(child);
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['cancelled']);
    await fixture.storage.control.retry(child, { regardless: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['enqueued']);
  });

  it('restores the dependents of jobs that are retried in bulk, if requested', async () => {
    const { root, child, grandchild } = await failedChain();
    await bulk.carryOut({ action: 'retry', filter: { id: [root] }, dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(root, child, grandchild)).to.deep.equal(['enqueued', 'awaiting', 'awaiting']);
  });

  it('restores the callback of a retried job’s batch, which waits for the batch again', async () => {
    const queue = fixture.newQueue();
    const batchId = newId();
    const job = { ...newJob(queue), maxAttempts: 1, meta: { batchId } };
    const followUp = { ...newJob(fixture.newQueue()), ...childOf([batchId]) };
    await fixture.storage.enqueuer.enqueueBatch({ id: batchId, name: null, jobs: [job], followUp });
    const claim = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed, hasMeta: true }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(followUp.id)).to.deep.equal(['cancelled']);
    await fixture.storage.control.retry(job.id, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(job.id, followUp.id)).to.deep.equal(['enqueued', 'awaiting']);
    const again = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim: again, outcome: outcomeOf.done, hasMeta: true }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(job.id, followUp.id)).to.deep.equal(['done', 'enqueued']);
  });
}
