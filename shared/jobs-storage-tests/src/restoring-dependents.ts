import type { JobState } from '@longshore/jobs';
import { type Claim, newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { it } from 'mocha';
import { BulkFixture } from './bulk-fixture.js';
import { childOf, outcomeOf, resolveAll } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

/** Defines the tests of retrying jobs together with their skipped dependents. */
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
  /** Enqueues three jobs, each of which depends on the previous one, and fails the first. */
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

  it('restores a dependent that depends on a failed job both directly and through other dependents', async () => {
    const queue = fixture.newQueue();
    const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
    const { id: first } = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    const { id: second } = await fixture.enqueue(fixture.newQueue(), childOf([first]));
    const { id: last } = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId, second]));
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolveAll(fixture.storage);
    await fixture.storage.control.retry(claim.jobId, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(first, second, last)).to.deep.equal(['awaiting', 'awaiting', 'awaiting']);
  });

  for (const [how, retry] of [
    [
      'one job',
      (root: string, visibleQueues: string[]) =>
        fixture.storage.control.retry(root, { dependents: true, visibleQueues }),
    ],
    [
      'jobs in bulk',
      async (root: string, visibleQueues: string[]) => {
        const filter = { id: [root] };
        await fixture.storage.bulk.start({ action: 'retry', filter, dependents: true, visibleQueues });
        while (await fixture.storage.bulk.advance());
      },
    ],
  ] as const)
    it(`restores no dependents in queues that the caller cannot see, and none behind them, with ${how}`, async () => {
      const queueOf = async (id: string): Promise<string> =>
        (await fixture.storage.jobs.find(id))?.queue ?? '';
      const [hidden, shown] = [await failedChain(), await failedChain()];
      await retry(hidden.root, [hidden.queue, await queueOf(hidden.grandchild)]);
      await retry(shown.root, [shown.queue, await queueOf(shown.child)]);
      await resolveAll(fixture.storage);
      const states = [hidden, shown].map(({ root, child, grandchild }) => statesOf(root, child, grandchild));
      expect(await Promise.all(states)).to.deep.equal([
        ['enqueued', 'cancelled', 'cancelled'],
        ['enqueued', 'awaiting', 'cancelled'],
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
    await fixture.storage.control.retry(child, { ignoreDependencies: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['enqueued']);
  });

  it('restores the dependents of jobs that are retried in bulk, if requested', async () => {
    const { root, child, grandchild } = await failedChain();
    await bulk.carryOut({ action: 'retry', filter: { id: [root] }, dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(root, child, grandchild)).to.deep.equal(['enqueued', 'awaiting', 'awaiting']);
  });

  it('says how many dependents were restored', async () => {
    const { root } = await failedChain();
    const retried = await fixture.storage.control.retry(root, { dependents: true });
    expect(retried).to.include({ outcome: 'ok', changed: true, restored: 2 });
    const { root: other } = await failedChain();
    const operation = await bulk.carryOut({ action: 'retry', filter: { id: [other] }, dependents: true });
    expect(operation).to.include({ changed: 1, restored: 2 });
  });

  it('restores the callback of a retried job’s batch, which waits for the batch again', async () => {
    const queue = fixture.newQueue();
    const batchId = newId();
    const job = { ...newJob(queue), maxAttempts: 1, meta: { batchId } };
    const callback = { ...newJob(fixture.newQueue()), ...childOf([batchId]) };
    await fixture.storage.enqueuer.enqueueBatch({ id: batchId, name: null, jobs: [job], callback });
    const claim = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed, hasMeta: true }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(callback.id)).to.deep.equal(['cancelled']);
    await fixture.storage.control.retry(job.id, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(job.id, callback.id)).to.deep.equal(['enqueued', 'awaiting']);
    const again = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim: again, outcome: outcomeOf.done, hasMeta: true }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(job.id, callback.id)).to.deep.equal(['done', 'enqueued']);
  });

  it('restores the callbacks of batches to which restored jobs belong', async () => {
    const queue = fixture.newQueue();
    const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
    const batchId = newId();
    const dependents = fixture.newQueue();
    const member = { ...newJob(dependents), ...childOf([claim.jobId], 'onDone', { meta: { batchId } }) };
    const callback = { ...newJob(fixture.newQueue()), ...childOf([batchId]) };
    await fixture.storage.enqueuer.enqueueBatch({ id: batchId, name: null, jobs: [member], callback });
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(member.id, callback.id)).to.deep.equal(['cancelled', 'cancelled']);
    expect(await fixture.storage.jobs.countSkipped([claim.jobId])).to.deep.equal({ count: 2, exact: true });
    await fixture.storage.control.retry(claim.jobId, { dependents: true });
    for (const from of [queue, dependents]) {
      const again = await claimIn(from);
      await fixture.storage.completions.complete([{ claim: again, outcome: outcomeOf.done, hasMeta: true }]);
      await resolveAll(fixture.storage);
    }
    expect(await statesOf(claim.jobId, member.id, callback.id)).to.deep.equal(['done', 'done', 'enqueued']);
  });

  it('restores a dependent whose other parent was done and has been deleted since', async () => {
    const queue = fixture.newQueue();
    const done = await fixture.claimOne({ queue: fixture.newQueue() });
    const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
    const parents = [done.claim.jobId, claim.jobId];
    const { id: child } = await fixture.enqueue(fixture.newQueue(), childOf(parents));
    await fixture.storage.completions.complete([
      { claim: done.claim, outcome: outcomeOf.done },
      { claim, outcome: outcomeOf.failed },
    ]);
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['cancelled']);
    await fixture.storage.control.delete(done.claim.jobId);
    await fixture.storage.control.retry(claim.jobId, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['awaiting']);
    const again = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim: again, outcome: outcomeOf.done }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['enqueued']);
  });

  it('makes a dependent ready again that was cancelled after its parents were done', async () => {
    const { claim } = await fixture.claimOne({ queue: fixture.newQueue() });
    const { id: child } = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolveAll(fixture.storage);
    await fixture.storage.control.cancel(child);
    await fixture.storage.control.delete(claim.jobId);
    await fixture.storage.control.retry(child);
    await resolveAll(fixture.storage);
    expect(await statesOf(child)).to.deep.equal(['enqueued']);
  });

  it('does not skip dependents of a job that was retried before its failure was processed', async () => {
    const queue = fixture.newQueue();
    const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
    const { id: child } = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await resolveAll(fixture.storage);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await fixture.storage.control.retry(claim.jobId, { dependents: true });
    await resolveAll(fixture.storage);
    expect(await statesOf(claim.jobId, child)).to.deep.equal(['enqueued', 'awaiting']);
    const again = await claimIn(queue);
    await fixture.storage.completions.complete([{ claim: again, outcome: outcomeOf.done }]);
    await resolveAll(fixture.storage);
    expect(await statesOf(claim.jobId, child)).to.deep.equal(['done', 'enqueued']);
  });

  for (const [what, cancel] of [
    ['cancelled', async (id: string) => void (await fixture.storage.control.cancel(id))],
    [
      'cancelled in bulk',
      async (id: string) => void (await bulk.carryOut({ action: 'cancel', filter: { id: [id] } })),
    ],
    [
      'cancelled with its batch',
      async (_id: string, batchId: string) => void (await fixture.storage.batches.cancel(batchId)),
    ],
  ] as const)
    it(`keeps the delay of a dependent that was ${what} and is retried`, async () => {
      const batchId = newId();
      const { claim } = await fixture.claimOne({ queue: fixture.newQueue() });
      const child = {
        ...newJob(fixture.newQueue()),
        ...childOf([claim.jobId], 'onDone', { due: { inMs: yearMs }, meta: { batchId } }),
      };
      await fixture.storage.enqueuer.enqueueBatch({
        id: batchId,
        name: null,
        jobs: [child],
        callback: null,
      });
      await resolveAll(fixture.storage);
      await cancel(child.id, batchId);
      expect(await statesOf(child.id)).to.deep.equal(['cancelled']);
      await fixture.storage.control.retry(child.id);
      await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
      await resolveAll(fixture.storage);
      expect(await statesOf(child.id)).to.deep.equal(['scheduled']);
    });
}
