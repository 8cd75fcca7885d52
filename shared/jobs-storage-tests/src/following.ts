import { expect } from 'chai';
import { it } from 'mocha';
import type { JobState } from '@longshore/jobs';
import { childOf, error, outcomeOf, settleAll } from './dependent-job.js';
import { type Bench, newJob } from './storage-under-test.js';

/** Further events in the lives of dependents and their parents. */
export function following(bench: Bench): void {
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await bench.storage.jobs.find(id))?.state;

  const settled = (): Promise<void> => settleAll(bench.storage);

  const doneJob = async (): Promise<string> => {
    const { claim } = await bench.claimOne();
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    return claim.jobId;
  };

  it('does not leave a job waiting for a deleted parent', async () => {
    const parent = await doneJob();
    const child = await bench.enqueue(bench.newQueue(), childOf([parent], 'onAny'));
    const strict = await bench.enqueue(bench.newQueue(), childOf([parent]));
    await bench.storage.control.delete(parent);
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
    expect(await stateOf(strict.id)).to.be.oneOf(['enqueued', 'cancelled']);
  });

  it('keeps a job waiting for a parent that is retried', async () => {
    const { claim } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId]));
    await settled();
    await bench.storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 60_000 } }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('awaiting');
  });

  it('handles the cancellation of a waiting parent', async () => {
    const parent = await bench.enqueue(bench.newQueue(), { due: { inMs: 60_000 } });
    const child = await bench.enqueue(bench.newQueue(), childOf([parent.id]));
    await settled();
    await bench.storage.control.cancel(parent.id);
    await settled();
    expect(await stateOf(child.id)).to.equal('cancelled');
  });

  it('handles the loss of a parent’s last attempt', async () => {
    const { claim } = await bench.claimOne({ maxAttempts: 1 });
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId], 'onFailed'));
    await settled();
    await bench.silence(claim.serverId);
    await bench.storage.maintenance.rescue();
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('drops a job’s parents when an operator runs it now', async () => {
    const { claim } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId]));
    await bench.storage.control.run(child.id);
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('drops a job’s parents when it is retried after a cancellation', async () => {
    const { claim } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId]));
    await bench.storage.control.cancel(child.id);
    await bench.storage.control.retry(child.id);
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('lists the continuations of a job before and after they have run', async () => {
    const { claim } = await bench.claimOne();
    const parents = [claim.jobId];
    const first = await bench.enqueue(bench.newQueue(), childOf(parents));
    const second = await bench.enqueue(bench.newQueue(), childOf(parents, 'onFailed'));
    const list = async (): Promise<(readonly [string, JobState])[]> =>
      (await bench.storage.jobs.listContinuations(claim.jobId)).map(({ id, state }) => [id, state] as const);
    const inOrder = [first.id, second.id].toSorted();
    expect(await list()).to.deep.equal(inOrder.map((id) => [id, 'awaiting']));
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await settled();
    expect(new Map(await list())).to.deep.equal(
      new Map([
        [first.id, 'enqueued'],
        [second.id, 'cancelled'],
      ]),
    );
  });

  it('lists the continuations of a job in pages', async () => {
    const { claim } = await bench.claimOne();
    const queue = bench.newQueue();
    const children = Array.from({ length: 5 }, () => ({ ...newJob(queue), ...childOf([claim.jobId]) }));
    await bench.storage.enqueuer.enqueue(children);
    const first = await bench.storage.jobs.listContinuations(claim.jobId, { limit: 3 });
    const after = first.at(-1)?.id ?? '';
    const rest = await bench.storage.jobs.listContinuations(claim.jobId, { limit: 3, after });
    expect([...first, ...rest].map(({ id }) => id)).to.deep.equal(children.map(({ id }) => id).toSorted());
  });

  it('counts and lists awaiting jobs', async () => {
    const { claim } = await bench.claimOne();
    const queue = bench.newQueue();
    const child = await bench.enqueue(queue, childOf([claim.jobId]));
    const filter = { queue: [queue], state: ['awaiting'] } as const;
    expect(await bench.storage.jobs.count(filter)).to.deep.equal({ count: 1, exact: true });
    const listed = await bench.storage.jobs.list({ filter, limit: 10 });
    expect(listed.map(({ id }) => id)).to.deep.equal([child.id]);
    const queues = await bench.storage.queues.list();
    expect(queues.find(({ name }) => name === queue)?.counts).to.include({ awaiting: 1 });
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await settled();
    expect(await bench.storage.jobs.count(filter)).to.deep.equal({ count: 0, exact: true });
  });

  it('has the same effect whether dependencies are resolved immediately or concurrently', async () => {
    const { claim: first } = await bench.claimOne();
    const { claim: second } = await bench.claimOne();
    const queue = bench.newQueue();
    const parents = [first.jobId, second.jobId];
    await bench.storage.enqueuer.enqueue(
      Array.from({ length: 50 }, () => ({ ...newJob(queue), ...childOf(parents) })),
    );
    await settled();
    await Promise.all(
      [first, second].map((claim) =>
        bench.storage.completions.complete([{ claim, outcome: outcomeOf.done }]),
      ),
    );
    await Promise.all([1, 1, 1, 1].map((limit) => bench.storage.maintenance.resolveDependencies(limit)));
    await settled();
    const count = await bench.storage.jobs.count({ queue: [queue], state: ['enqueued'] });
    expect(count.count).to.equal(50);
  });
}
