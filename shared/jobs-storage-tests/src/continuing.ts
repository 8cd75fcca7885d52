import { expect } from 'chai';
import { it } from 'mocha';
import type { ContinuationCondition, JobState } from '@longshore/jobs';
import { type FinishedState, finishedStates, newId, type NewJob } from '@longshore/jobs/storage';
import { childOf, outcomeOf, resolveAll } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

const effects: Record<ContinuationCondition, Record<FinishedState, JobState>> = {
  onDone: { done: 'enqueued', failed: 'cancelled', cancelled: 'cancelled' },
  onFailed: { done: 'cancelled', failed: 'enqueued', cancelled: 'cancelled' },
  onAny: { done: 'enqueued', failed: 'enqueued', cancelled: 'enqueued' },
};

/** Defines the tests of jobs that depend on parents. */
export function continuing(fixture: Fixture): void {
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await fixture.storage.jobs.find(id))?.state;

  const resolved = (): Promise<void> => resolveAll(fixture.storage);

  const end = async (state: FinishedState, parent: Partial<NewJob> = {}): Promise<string> => {
    const { claim } = await fixture.claimOne(parent);
    await fixture.storage.completions.complete([
      { claim, outcome: outcomeOf[state], hasMeta: parent.meta !== undefined },
    ]);
    return claim.jobId;
  };

  it('keeps a job waiting until its parent ends', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId]));
    await resolved();
    expect(await fixture.storage.jobs.find(child.id)).to.include({
      state: 'awaiting',
      parentId: claim.jobId,
    });
  });

  for (const [when, byEnd] of Object.entries(effects) as [
    ContinuationCondition,
    Record<FinishedState, JobState>,
  ][]) {
    for (const state of finishedStates) {
      const title = `${when}: a parent that ends ${state} makes its continuation ${byEnd[state]}`;

      it(title, async () => {
        const { claim } = await fixture.claimOne();
        const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId], when));
        await resolved();
        await fixture.storage.completions.complete([{ claim, outcome: outcomeOf[state] }]);
        await resolved();
        expect(await stateOf(child.id)).to.equal(byEnd[state]);
      });

      it(`${title}, also if it had ended before`, async () => {
        const parent = await end(state);
        const child = await fixture.enqueue(fixture.newQueue(), childOf([parent], when));
        await resolved();
        expect(await stateOf(child.id)).to.equal(byEnd[state]);
      });
    }
  }

  it('names the parent in the error of a cancelled continuation', async () => {
    const parent = await end('failed');
    const child = await fixture.enqueue(fixture.newQueue(), childOf([parent]));
    await resolved();
    const found = await fixture.storage.jobs.find(child.id);
    expect(found?.error?.name).to.equal('ContinuationCancelled');
    expect(found?.error?.message).to.contain(`${parent} failed`);
  });

  it('runs a job with several parents when the last of them is done', async () => {
    const { claim: first } = await fixture.claimOne();
    const { claim: second } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([first.jobId, second.jobId]));
    await resolved();
    await fixture.storage.completions.complete([{ claim: first, outcome: outcomeOf.done }]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('awaiting');
    await fixture.storage.completions.complete([{ claim: second, outcome: outcomeOf.done }]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('cancels a job with several parents as soon as one of them fails', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(fixture.newQueue(), childOf([claim.jobId, await end('failed')]));
    await resolved();
    expect(await stateOf(child.id)).to.equal('cancelled');
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolved();
    expect(await stateOf(child.id)).to.equal('cancelled');
  });

  it('cancels a whole chain of continuations when the first job fails', async () => {
    const { claim } = await fixture.claimOne();
    const ids = [claim.jobId];
    for (let depth = 0; depth < 4; depth++) {
      ids.push((await fixture.enqueue(fixture.newQueue(), childOf(ids.slice(-1)))).id);
    }
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await resolved();
    const states = await Promise.all(ids.map(stateOf));
    expect(states).to.deep.equal(['failed', 'cancelled', 'cancelled', 'cancelled', 'cancelled']);
  });

  it('accepts dependencies between jobs of one call', async () => {
    const queue = fixture.newQueue();
    const parent = newJob(queue);
    const child = { ...newJob(queue), ...childOf([parent.id]) };
    await fixture.storage.enqueuer.enqueue([parent, child]);
    const { id: serverId } = await fixture.register(queue);
    const [claimed, ...others] = await fixture.claim(serverId, queue);
    expect(others).to.deep.equal([]);
    if (claimed === undefined) throw new Error('the parent could not be claimed');
    await fixture.storage.completions.complete([
      { claim: claimed.claim, outcome: outcomeOf.done, hasMeta: true },
    ]);
    await resolved();
    expect((await fixture.claim(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([child.id]);
  });

  it('starts a job’s delay when its parents have ended', async () => {
    const { claim } = await fixture.claimOne();
    const child = await fixture.enqueue(
      fixture.newQueue(),
      childOf([claim.jobId], 'onDone', { due: { inMs: yearMs } }),
    );
    await resolved();
    const from = await fixture.storage.readClock();
    await fixture.untilAfter(from);
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await resolved();
    const until = await fixture.storage.readClock();
    const found = await fixture.storage.jobs.find(child.id);
    expect(found?.state).to.equal('scheduled');
    expect((found?.runAt?.getTime() ?? 0) - yearMs).to.be.within(from.getTime() + 1, until.getTime());
  });

  it('ignores a time that passed before the parents ended', async () => {
    const parent = await end('done');
    const due = { at: new Date(Date.now() - 1_000) };
    const child = await fixture.enqueue(fixture.newQueue(), childOf([parent], 'onDone', { due }));
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('rejects a parent in a queue that the caller cannot see as unknown', async () => {
    const [own, foreign] = [fixture.newQueue(), fixture.newQueue()];
    const hidden = await fixture.enqueue(foreign);
    const finished = await end('done');
    const batchId = newId();
    await fixture.storage.enqueuer.enqueueBatch({
      id: batchId,
      name: null,
      jobs: [newJob(own)],
      callback: null,
    });
    const refusals = [hidden.id, finished, batchId].map(async (parent) => {
      const child = { ...newJob(own), ...childOf([parent]), visibleQueues: [own] };
      return fixture.storage.enqueuer.enqueue([newJob(own), child]).catch((thrown: unknown) => thrown);
    });
    for (const refusal of await Promise.all(refusals))
      expect(refusal).to.have.property('name', 'UnknownParentError');
    expect(await fixture.jobsOf(own)).to.have.length(1);
  });

  it('accepts parents in visible queues, and those of the same call', async () => {
    const [own, other] = [fixture.newQueue(), fixture.newQueue()];
    const visibleQueues = [own, other, 'not-there-yet'];
    const before = await fixture.enqueue(other);
    const first = { ...newJob(own), visibleQueues };
    const child = { ...newJob(own), ...childOf([before.id, first.id]), visibleQueues };
    await fixture.storage.enqueuer.enqueue([first, child]);
    expect(await stateOf(child.id)).to.equal('awaiting');
  });

  it('checks concurrently enqueued jobs each by its own visible queues', async () => {
    const queue = fixture.newQueue();
    const parent = await fixture.enqueue(fixture.newQueue());
    const child = (visibleQueues: string[] | null): NewJob => ({
      ...newJob(queue),
      ...childOf([parent.id]),
      visibleQueues,
    });
    const outcomes = await Promise.allSettled(
      [[queue], null, [queue]].map((visibleQueues) =>
        fixture.storage.enqueuer.enqueue([child(visibleQueues)]),
      ),
    );
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'rejected']);
  });

  it('rejects an unknown parent, and with it all jobs of the call', async () => {
    const queue = fixture.newQueue();
    const plain = newJob(queue);
    const unknown = newId();
    const refusal = await fixture.storage.enqueuer
      .enqueue([plain, { ...newJob(queue), ...childOf([unknown]) }])
      .catch((thrown: unknown) => thrown);
    expect(refusal).to.include({ name: 'UnknownParentError', parentId: unknown });
    expect(await fixture.storage.jobs.find(plain.id)).to.equal(null);
  });
}
