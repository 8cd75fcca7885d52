import { expect } from 'chai';
import { it } from 'mocha';
import type { JobState } from '@longshore/jobs';
import { childOf, error, outcomeOf, resolveAll } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

/** Defines the tests of retrying, cancelling and deleting parents and dependents, and of listing dependents. */
export function following(fixture: Fixture): void {
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await fixture.storage.jobs.find(id))?.state;

  const resolved = (): Promise<void> => resolveAll(fixture.storage);

  const doneJob = async (): Promise<string> => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    return claim.jobId;
  };

  it('does not leave a job waiting for a deleted parent', async () => {
    const parent = await doneJob();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([parent], 'onAny'));
    const strict = await fixture.enqueue(fixture.newQueue(), childOf([parent]));
    await fixture.storage.control.delete(parent);
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
    expect(await stateOf(strict.id)).to.be.oneOf(['enqueued', 'cancelled']);
  });

  it('keeps a job waiting for a parent that is retried', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await resolved();
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'retry', error, delayMs: yearMs } },
    ]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('awaiting');
  });

  it('handles the cancellation of a waiting parent', async () => {
    const parent = await fixture.enqueue(fixture.newQueue(), { due: { inMs: yearMs } });
    const child = await fixture.enqueue(fixture.newQueue(), childOf([parent.id]));
    await resolved();
    await fixture.storage.control.cancel(parent.id);
    await resolved();
    expect(await stateOf(child.id)).to.equal('cancelled');
  });

  it('handles the loss of a parent’s last attempt', async () => {
    const { claim } = await fixture.claimOne({ maxAttempts: 1 });
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId], 'onFailed'));
    await resolved();
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('drops a job’s parents when an operator runs it now', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await fixture.storage.control.run(child.id);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('drops the parents of a cancelled job that is retried regardless of them', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await fixture.storage.control.cancel(child.id);
    await fixture.storage.control.retry(child.id, { ignoreDependencies: true });
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('lists the continuations of a job before and after they have run', async () => {
    const { claim } = await fixture.claimOne();
    const parents = [claim.jobId];
    const first = await fixture.enqueue(fixture.newQueue(), childOf(parents));
    const second = await fixture.enqueue(fixture.newQueue(), childOf(parents, 'onFailed'));
    const list = async (): Promise<(readonly [string, JobState])[]> =>
      (await fixture.storage.jobs.listContinuations(claim.jobId)).map(
        ({ id, state }) => [id, state] as const,
      );
    const inOrder = [first.id, second.id].toSorted();
    expect(await list()).to.deep.equal(inOrder.map((id) => [id, 'awaiting']));
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolved();
    expect(new Map(await list())).to.deep.equal(
      new Map([
        [first.id, 'enqueued'],
        [second.id, 'cancelled'],
      ]),
    );
  });

  it('lists the continuations of a job in pages', async () => {
    const { claim } = await fixture.claimOne();
    const queue = fixture.newQueue();
    const children = Array.from({ length: 5 }, () => ({ ...newJob(queue), ...childOf([claim.jobId]) }));
    await fixture.storage.enqueuer.enqueue(children);
    const first = await fixture.storage.jobs.listContinuations(claim.jobId, { limit: 3 });
    const after = first.at(-1)?.id ?? '';
    const rest = await fixture.storage.jobs.listContinuations(claim.jobId, { limit: 3, after });
    expect([...first, ...rest].map(({ id }) => id)).to.deep.equal(children.map(({ id }) => id).toSorted());
  });

  it('lists the oldest dependents of several jobs', async () => {
    const [{ claim: one }, { claim: other }] = [await fixture.claimOne(), await fixture.claimOne()];
    const queue = fixture.newQueue();
    const children = [[one.jobId], [one.jobId, other.jobId], [one.jobId]].map((parents) => ({
      ...newJob(queue),
      ...childOf(parents),
    }));
    await fixture.storage.enqueuer.enqueue(children);
    const ids = [one.jobId, other.jobId, children[0]?.id ?? '', 'no id'];
    const listed = await fixture.storage.jobs.listDependents(ids, 2);
    expect(new Map(listed.map(({ parentId, ids: dependents }) => [parentId, dependents]))).to.deep.equal(
      new Map([
        [
          one.jobId,
          children
            .map(({ id }) => id)
            .toSorted()
            .slice(0, 2),
        ],
        [other.jobId, [children[1]?.id]],
      ]),
    );
  });

  it('counts and lists awaiting jobs', async () => {
    const { claim } = await fixture.claimOne();
    const queue = fixture.newQueue();
    const child = await fixture.enqueue(queue, childOf([claim.jobId]));
    const filter = { queue: [queue], state: ['awaiting'] } as const;
    expect(await fixture.storage.jobs.count(filter)).to.deep.equal({ count: 1, exact: true });
    const listed = await fixture.storage.jobs.list({ filter, limit: 10 });
    expect(listed.map(({ id }) => id)).to.deep.equal([child.id]);
    const queues = await fixture.storage.queues.list();
    expect(queues.find(({ name }) => name === queue)?.counts).to.include({ awaiting: 1 });
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolved();
    expect(await fixture.storage.jobs.count(filter)).to.deep.equal({ count: 0, exact: true });
  });

  it('has the same effect whether dependencies are resolved immediately or concurrently', async () => {
    const { claim: first } = await fixture.claimOne();
    const { claim: second } = await fixture.claimOne();
    const queue = fixture.newQueue();
    const parents = [first.jobId, second.jobId];
    await fixture.storage.enqueuer.enqueue(
      Array.from({ length: 50 }, () => ({ ...newJob(queue), ...childOf(parents) })),
    );
    await resolved();
    await Promise.all(
      [first, second].map((claim) =>
        fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]),
      ),
    );
    await Promise.all([1, 1, 1, 1].map((limit) => fixture.storage.maintenance.resolveDependencies(limit)));
    await resolved();
    const count = await fixture.storage.jobs.count({ queue: [queue], state: ['enqueued'] });
    expect(count.count).to.equal(50);
  });
}
