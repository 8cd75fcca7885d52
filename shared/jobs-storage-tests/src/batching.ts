import { expect } from 'chai';
import { it } from 'mocha';
import type { Batch, ContinuationCondition, JobState } from '@longshore/jobs';
import {
  type BatchFilter,
  type Claim,
  type FinishedState,
  type NewBatch,
  newId,
  type NewJob,
  timeOfId,
} from '@longshore/jobs/storage';
import { childOf, outcomeOf, resolveAll } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

/** Defines the tests of batches and their callbacks. */
export function batching(fixture: Fixture): void {
  const resolved = (): Promise<void> => resolveAll(fixture.storage);
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await fixture.storage.jobs.find(id))?.state;

  const find = async ({ id }: { id: string }): Promise<Batch> => {
    const batch = await fixture.storage.batches.find(id);
    if (batch === null) throw new Error(`There is no batch ${id}`);
    return batch;
  };

  function newBatch(
    queue: string,
    size: number,
    when: ContinuationCondition = 'onDone',
    job: Partial<NewJob> = {},
  ): NewBatch & { callback: NewJob } {
    const id = newId();
    return {
      id,
      name: 'nightly',
      jobs: Array.from({ length: size }, () => ({ ...newJob(queue), ...job, meta: { batchId: id } })),
      callback: { ...newJob(fixture.newQueue()), ...childOf([id], when) },
    };
  }

  /**
   * Enqueues a batch of `size` jobs. Completes its first jobs with the final states in `ends`, in this order. Returns
   * the batch and the claims.
   */
  async function run(
    size: number,
    ends: readonly FinishedState[],
    when?: ContinuationCondition,
  ): Promise<{ batch: NewBatch & { callback: NewJob }; claims: Claim[] }> {
    const queue = fixture.newQueue();
    const batch = newBatch(queue, size, when);
    await fixture.storage.enqueuer.enqueueBatch(batch);
    const { id: serverId } = await fixture.register(queue);
    const claims = (await fixture.claim(serverId, queue, ends.length)).map(({ claim }) => claim);
    await fixture.storage.completions.complete(
      claims.map((claim, index) => ({ claim, outcome: outcomeOf[ends[index] ?? 'done'], hasMeta: true })),
    );
    await resolved();
    return { batch, claims };
  }

  it('is found among several ids', async () => {
    const [one, other] = [await run(2, ['done']), await run(0, [])];
    const ids = [one.batch.id, newId(), 'none', other.batch.id];
    const found = await fixture.storage.batches.findMany(ids);
    const expected = [await find(one.batch), await find(other.batch)];
    expect(found).to.have.deep.members(expected);
  });

  it('is found and counted by state, name, and times of creation and finish', async () => {
    const [failed, open] = [await run(2, ['failed', 'done']), await run(2, ['done'])];
    const [one, other] = [await find(failed.batch), await find(open.batch)];
    const name = `batch ${one.id}`;
    const named = { ...newBatch(fixture.newQueue(), 0), name, callback: null };
    await fixture.storage.enqueuer.enqueueBatch(named);
    const own = new Set([one.id, other.id, named.id]); // other tests make batches of later times
    const since = { createdAfter: timeOfId(one.id) ?? new Date(0) };
    const found = async (filter: BatchFilter): Promise<string[]> => {
      const wanted = { ...since, ...filter };
      const listed = await fixture.storage.batches.list({ filter: wanted, limit: 50 });
      expect(await fixture.storage.batches.count(wanted)).to.deep.equal({
        count: listed.length,
        exact: true,
      });
      return listed.map(({ id }) => id).filter((id) => own.has(id));
    };
    expect(await found({ state: ['failed'] })).to.deep.equal([one.id]);
    expect(await found({ state: ['processing', 'failed'] })).to.deep.equal([other.id, one.id]);
    expect(await found({ state: ['cancelled'] })).to.deep.equal([]);
    expect(await found({ name: [name, 'none'] })).to.deep.equal([named.id]);
    const finishedAt = one.finishedAt ?? new Date(0);
    expect(await found({ finishedAfter: finishedAt })).to.deep.equal([named.id, one.id]);
    expect(await found({ finishedBefore: finishedAt })).to.deep.equal([]);
    expect(await found({ createdAfter: timeOfId(named.id) ?? new Date(0) })).to.include(named.id);
    expect(await found({ createdBefore: timeOfId(one.id) ?? new Date(0) })).to.deep.equal([]);
  });

  it('counts the jobs of a batch by final state', async () => {
    const { batch } = await run(5, ['done', 'done', 'failed', 'cancelled']);
    const found = await find(batch);
    expect(found).to.deep.include({
      name: 'nightly',
      total: 5,
      done: 2,
      failed: 1,
      cancelled: 1,
      state: 'processing',
    });
    expect(found).to.deep.include({ percent: 80, finishedAt: null, callbackId: batch.callback.id });
  });

  it('shows the batch of each of its jobs', async () => {
    const { batch } = await run(1, []);
    expect(await fixture.storage.jobs.find(batch.jobs[0]?.id ?? '')).to.include({ batchId: batch.id });
  });

  it('finishes a batch when its last job finishes', async () => {
    const { batch } = await run(2, ['done', 'failed']);
    const found = await find(batch);
    expect(found.percent).to.equal(100);
    expect(found.finishedAt).to.be.a('date');
  });

  it('keeps the callback waiting until the last job has finished', async () => {
    const { batch } = await run(2, ['done']);
    expect(await stateOf(batch.callback.id)).to.equal('awaiting');
  });

  const afterwards: [ContinuationCondition, FinishedState[], JobState][] = [
    ['onDone', ['done', 'done'], 'enqueued'],
    ['onDone', ['done', 'failed'], 'cancelled'],
    ['onDone', ['cancelled', 'done'], 'cancelled'],
    ['onFailed', ['done', 'failed'], 'enqueued'],
    ['onFailed', ['done', 'done'], 'cancelled'],
    ['onAny', ['failed', 'cancelled'], 'enqueued'],
  ];
  for (const [when, ends, state] of afterwards) {
    it(`${when}: a batch with jobs ${ends.join(' and ')} makes its callback ${state}`, async () => {
      const { batch } = await run(ends.length, ends, when);
      expect(await stateOf(batch.callback.id)).to.equal(state);
    });
  }

  it('finishes an empty batch immediately and starts its callback', async () => {
    const { batch } = await run(0, []);
    expect(await find(batch)).to.include({ total: 0, percent: 100 });
    expect((await find(batch)).finishedAt).to.be.a('date');
    expect(await stateOf(batch.callback.id)).to.equal('enqueued');
  });

  it('stops counting a job that is retried, and counts it again when it ends', async () => {
    const { batch, claims } = await run(2, ['done', 'failed']);
    const failed = claims[1];
    if (failed === undefined) throw new Error('the second job was not claimed');
    await fixture.storage.control.retry(failed.jobId);
    await resolved();
    expect(await find(batch)).to.deep.include({ done: 1, failed: 0, percent: 50, finishedAt: null });
    const [again] = await fixture.claim(failed.serverId, failed.queue);
    if (again === undefined) throw new Error('the job that was sent back could not be claimed');
    await fixture.storage.completions.complete([
      { claim: again.claim, outcome: outcomeOf.done, hasMeta: true },
    ]);
    await resolved();
    const found = await find(batch);
    expect(found).to.include({ done: 2, failed: 0, percent: 100 });
    expect(found.finishedAt).to.be.a('date');
  });

  for (const end of ['done', 'failed', 'cancelled'] as const) {
    for (const relayed of ['together', 'one by one'] as const) {
      it(`ends again when a retried job of an ended batch ends as ${end}, relayed ${relayed}`, async () => {
        const { batch, claims } = await run(2, ['done', 'failed']);
        const failed = claims[1];
        if (failed === undefined) throw new Error('the second job was not claimed');
        const { control, completions, maintenance } = fixture.storage;
        await control.retry(failed.jobId, { dependents: true });
        if (relayed === 'one by one') await maintenance.resolveDependencies(1);
        const [again] = await fixture.claim(failed.serverId, failed.queue);
        if (again === undefined) throw new Error('the job that was sent back could not be claimed');
        await completions.complete([{ claim: again.claim, outcome: outcomeOf[end], hasMeta: true }]);
        await resolved();
        expect(await find(batch)).to.include({ percent: 100, [end]: end === 'done' ? 2 : 1 });
        expect((await find(batch)).finishedAt).to.be.a('date');
        expect(await stateOf(batch.callback.id)).to.equal(end === 'done' ? 'enqueued' : 'cancelled');
      });
    }
  }

  it('accepts an existing batch as a parent', async () => {
    const { batch, claims } = await run(1, []);
    expect(claims).to.deep.equal([]);
    const child = await fixture.enqueue(fixture.newQueue(), childOf([batch.id], 'onAny'));
    await resolved();
    expect(await stateOf(child.id)).to.equal('awaiting');
    await fixture.storage.control.cancel(batch.jobs[0]?.id ?? '');
    await resolved();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('cancels every unfinished job of a batch', async () => {
    const queue = fixture.newQueue();
    const batch = newBatch(queue, 4);
    const [first, second, third, fourth] = batch.jobs;
    if (!first || !second || !third || !fourth) throw new Error('the batch has four jobs');
    const jobs = [
      first,
      second,
      { ...third, due: { inMs: yearMs } },
      { ...fourth, after: { parents: [first.id], when: 'onDone' as const } },
    ];
    await fixture.storage.enqueuer.enqueueBatch({ ...batch, jobs });
    const { id: serverId } = await fixture.register(queue);
    const [running] = await fixture.claim(serverId, queue, 1);
    if (running === undefined) throw new Error('nothing could be claimed');
    const result = await fixture.storage.batches.cancel(batch.id);
    expect(result).to.deep.include({ outcome: 'ok', changed: true });
    expect(await fixture.storage.control.cancellations([running.claim])).to.deep.equal([running.claim]);
    await fixture.storage.completions.complete([
      { claim: running.claim, outcome: outcomeOf.cancelled, hasMeta: true },
    ]);
    await resolved();
    expect(await find(batch)).to.include({ cancelled: 4, percent: 100 });
    expect(await stateOf(batch.callback.id)).to.equal('cancelled');
  });

  it('does not cancel a finished batch', async () => {
    const { batch } = await run(1, ['done']);
    expect(await fixture.storage.batches.cancel(batch.id)).to.deep.include({ outcome: 'illegal' });
  });

  it('returns no batch for an unknown id', async () => {
    expect(await fixture.storage.batches.cancel(newId())).to.deep.equal({ outcome: 'unknown' });
    expect(await fixture.storage.batches.find(newId())).to.equal(null);
    expect(await fixture.storage.batches.find('none')).to.equal(null);
  });

  it('lists batches, newest first, in pages', async () => {
    const batches = [await run(0, []), await run(1, []), await run(2, ['done'])].map(({ batch }) => batch.id);
    const newest = batches.toSorted().toReversed();
    const listed = (await fixture.storage.batches.list({ limit: 50 })).map(({ id }) => id);
    // The list can contain batches of other tests, even between these, if they were created in the same millisecond.
    expect(listed.filter((id) => newest.includes(id))).to.deep.equal(newest);
    const next = await fixture.storage.batches.list({ limit: 1, after: listed[1] ?? '' });
    expect(next.map(({ id }) => id)).to.deep.equal(listed.slice(2, 3));
  });

  it('lists batches, oldest first, after a given one or an offset', async () => {
    const ids = [await run(0, []), await run(0, []), await run(0, [])]
      .map(({ batch }) => batch.id)
      .toSorted();
    const [first = ''] = ids;
    const next = await fixture.storage.batches.list({ order: 'oldest', limit: 50, after: first });
    // Another test may have created a batch in the same millisecond.
    expect(next.map(({ id }) => id).filter((id) => ids.includes(id))).to.deep.equal(ids.slice(1));
    const newest = await fixture.storage.batches.list({ order: 'newest', limit: 3 });
    const passed = await fixture.storage.batches.list({ order: 'newest', limit: 1, offset: 1 });
    expect(passed).to.deep.equal(newest.slice(1, 2));
  });

  it('counts batches', async () => {
    const { count: before } = await fixture.storage.batches.count();
    await run(0, []);
    expect(await fixture.storage.batches.count()).to.deep.equal({ count: before + 1, exact: true });
  });

  it('enqueues nothing of a rejected batch', async () => {
    const queue = fixture.newQueue();
    const batch = newBatch(queue, 2);
    const stray = { ...newJob(queue), ...childOf([newId()]) };
    const refusal = await fixture.storage.enqueuer
      .enqueueBatch({ ...batch, jobs: [...batch.jobs, stray] })
      .catch((thrown: unknown) => thrown);
    expect(refusal).to.have.property('name', 'UnknownParentError');
    expect(await fixture.storage.batches.find(batch.id)).to.equal(null);
    expect(await fixture.storage.jobs.find(batch.jobs[0]?.id ?? '')).to.equal(null);
  });

  it('accepts thousands of jobs in one batch', async () => {
    const batch = newBatch(fixture.newQueue(), 5_000);
    await fixture.storage.enqueuer.enqueueBatch(batch);
    expect(await find(batch)).to.include({ total: 5_000, done: 0, percent: 0 });
    expect(await fixture.storage.batches.cancel(batch.id)).to.include({ outcome: 'ok', changed: true });
    await resolved();
    expect(await find(batch)).to.include({ cancelled: 5_000, percent: 100 });
  });
}
