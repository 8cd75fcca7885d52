import { expect } from 'chai';
import { it } from 'mocha';
import type { ContinuationCondition, JobState } from '@longshore/jobs';
import { type FinishedState, finishedStates, newId, type NewJob } from '@longshore/jobs/storage';
import { childOf, outcomeOf, settleAll } from './dependent-job.js';
import { type Bench, newJob } from './storage-under-test.js';

const effects: Record<ContinuationCondition, Record<FinishedState, JobState>> = {
  onDone: { done: 'enqueued', failed: 'cancelled', cancelled: 'cancelled' },
  onFailed: { done: 'cancelled', failed: 'enqueued', cancelled: 'cancelled' },
  onAny: { done: 'enqueued', failed: 'enqueued', cancelled: 'enqueued' },
};

/** Jobs with parents. */
export function continuing(bench: Bench): void {
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await bench.storage.jobs.find(id))?.state;

  const settled = (): Promise<void> => settleAll(bench.storage);

  const end = async (state: FinishedState, parent: Partial<NewJob> = {}): Promise<string> => {
    const { claim } = await bench.claimOne(parent);
    await bench.storage.completions.complete([
      { claim, outcome: outcomeOf[state], hasMeta: parent.meta !== undefined },
    ]);
    return claim.jobId;
  };

  it('keeps a job waiting until its parent ends', async () => {
    const { claim } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId]));
    await settled();
    expect(await bench.storage.jobs.find(child.id)).to.include({ state: 'awaiting', parentId: claim.jobId });
  });

  for (const [when, byEnd] of Object.entries(effects) as [
    ContinuationCondition,
    Record<FinishedState, JobState>,
  ][]) {
    for (const state of finishedStates) {
      const title = `${when}: a parent that ends ${state} makes its continuation ${byEnd[state]}`;

      it(title, async () => {
        const { claim } = await bench.claimOne();
        const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId], when));
        await settled();
        await bench.storage.completions.complete([{ claim, outcome: outcomeOf[state] }]);
        await settled();
        expect(await stateOf(child.id)).to.equal(byEnd[state]);
      });

      it(`${title}, also if it had ended before`, async () => {
        const parent = await end(state);
        const child = await bench.enqueue(bench.newQueue(), childOf([parent], when));
        await settled();
        expect(await stateOf(child.id)).to.equal(byEnd[state]);
      });
    }
  }

  it('names the parent in the error of a cancelled continuation', async () => {
    const parent = await end('failed');
    const child = await bench.enqueue(bench.newQueue(), childOf([parent]));
    await settled();
    const found = await bench.storage.jobs.find(child.id);
    expect(found?.error?.name).to.equal('ContinuationCancelled');
    expect(found?.error?.message).to.contain(`${parent} failed`);
  });

  it('runs a job with several parents when the last of them is done', async () => {
    const { claim: first } = await bench.claimOne();
    const { claim: second } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([first.jobId, second.jobId]));
    await settled();
    await bench.storage.completions.complete([{ claim: first, outcome: outcomeOf.done }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('awaiting');
    await bench.storage.completions.complete([{ claim: second, outcome: outcomeOf.done }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('cancels a job with several parents as soon as one of them fails', async () => {
    const { claim } = await bench.claimOne();
    const child = await bench.enqueue(bench.newQueue(), childOf([claim.jobId, await end('failed')]));
    await settled();
    expect(await stateOf(child.id)).to.equal('cancelled');
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.done }]);
    await settled();
    expect(await stateOf(child.id)).to.equal('cancelled');
  });

  it('cancels a whole chain of continuations when the first job fails', async () => {
    const { claim } = await bench.claimOne();
    const ids = [claim.jobId];
    for (let depth = 0; depth < 4; depth++) {
      ids.push((await bench.enqueue(bench.newQueue(), childOf(ids.slice(-1)))).id);
    }
    await bench.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await settled();
    const states = await Promise.all(ids.map(stateOf));
    expect(states).to.deep.equal(['failed', 'cancelled', 'cancelled', 'cancelled', 'cancelled']);
  });

  it('accepts dependencies between jobs of one call', async () => {
    const queue = bench.newQueue();
    const parent = newJob(queue);
    const child = { ...newJob(queue), ...childOf([parent.id]) };
    await bench.storage.enqueuer.enqueue([parent, child]);
    const { id: serverId } = await bench.register(queue);
    const [claimed, ...others] = await bench.claim(serverId, queue);
    expect(others).to.deep.equal([]);
    if (claimed === undefined) throw new Error('the parent could not be claimed');
    await bench.storage.completions.complete([
      { claim: claimed.claim, outcome: outcomeOf.done, hasMeta: true },
    ]);
    await settled();
    expect((await bench.claim(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([child.id]);
  });

  it('starts a job’s delay when its parents have ended', async () => {
    const parent = await end('done');
    const child = await bench.enqueue(
      bench.newQueue(),
      childOf([parent], 'onDone', { due: { inMs: 60_000 } }),
    );
    await settled();
    const found = await bench.storage.jobs.find(child.id);
    expect(found?.state).to.equal('scheduled');
    expect(found?.runAt?.getTime()).to.be.above(Date.now() + 30_000);
  });

  it('ignores a time that passed before the parents ended', async () => {
    const parent = await end('done');
    const due = { at: new Date(Date.now() - 1_000) };
    const child = await bench.enqueue(bench.newQueue(), childOf([parent], 'onDone', { due }));
    await settled();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('rejects a parent outside the job’s scope as unknown', async () => {
    const [own, foreign] = [bench.newQueue(), bench.newQueue()];
    const hidden = await bench.enqueue(foreign);
    const finished = await end('done');
    const batchId = newId();
    await bench.storage.enqueuer.enqueueBatch({
      id: batchId,
      name: null,
      jobs: [newJob(own)],
      followUp: null,
    });
    const refusals = [hidden.id, finished, batchId].map(async (parent) => {
      const child = { ...newJob(own), ...childOf([parent]), scope: [own] };
      return bench.storage.enqueuer.enqueue([newJob(own), child]).catch((thrown: unknown) => thrown);
    });
    for (const refusal of await Promise.all(refusals))
      expect(refusal).to.have.property('name', 'UnknownParentError');
    expect(await bench.jobsOf(own)).to.have.length(1);
  });

  it('accepts parents within the scope, and those of the same call', async () => {
    const [own, other] = [bench.newQueue(), bench.newQueue()];
    const scope = [own, other, 'not-there-yet'];
    const before = await bench.enqueue(other);
    const first = { ...newJob(own), scope };
    const child = { ...newJob(own), ...childOf([before.id, first.id]), scope };
    await bench.storage.enqueuer.enqueue([first, child]);
    expect(await stateOf(child.id)).to.equal('awaiting');
  });

  it('checks concurrently enqueued jobs each by its own scope', async () => {
    const queue = bench.newQueue();
    const parent = await bench.enqueue(bench.newQueue());
    const child = (scope: string[] | null): NewJob => ({ ...newJob(queue), ...childOf([parent.id]), scope });
    const outcomes = await Promise.allSettled(
      [[queue], null, [queue]].map((scope) => bench.storage.enqueuer.enqueue([child(scope)])),
    );
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'rejected']);
  });

  it('rejects an unknown parent, and with it all jobs of the call', async () => {
    const queue = bench.newQueue();
    const plain = newJob(queue);
    const unknown = newId();
    const refusal = await bench.storage.enqueuer
      .enqueue([plain, { ...newJob(queue), ...childOf([unknown]) }])
      .catch((thrown: unknown) => thrown);
    expect(refusal).to.include({ name: 'UnknownParentError', parentId: unknown });
    expect(await bench.storage.jobs.find(plain.id)).to.equal(null);
  });
}
