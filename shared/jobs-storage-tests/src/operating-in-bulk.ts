import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, type JobState } from '@longshore/jobs';
import { type BulkRequest, type JobFilter, newId } from '@longshore/jobs/storage';
import { BulkFixture } from './bulk-fixture.js';
import { childOf, outcomeOf, resolveAll } from './dependent-job.js';
import { jobInState, whileServing } from './serving-queue.js';
import { type Fixture, hourMs, newJob, yearMs } from './storage-under-test.js';

/** Defines the tests of actions on all jobs that match a filter. Each test uses its own queue. */
export function operatingInBulk(fixture: Fixture): void {
  const bulk = new BulkFixture(fixture);
  const stateOf = async (id: string): Promise<JobState | undefined> =>
    (await fixture.storage.jobs.find(id))?.state;
  /** Creates one job in each state, and resolves to the jobs' ids by state. */
  const oneInEach = async (queue: string): Promise<Map<JobState, string>> => {
    const ids = new Map<JobState, string>();
    for (const state of ['done', 'failed', 'cancelled'] as const) {
      const { claim } = await fixture.claimOne({ queue, maxAttempts: 1 });
      await fixture.storage.completions.complete([{ claim, outcome: outcomeOf[state] }]);
      ids.set(state, claim.jobId);
    }
    ids.set('processing', (await fixture.claimOne({ queue })).claim.jobId);
    const { id: elsewhere } = await fixture.enqueue(fixture.newQueue());
    ids.set('enqueued', (await fixture.enqueue(queue)).id);
    ids.set('scheduled', (await fixture.enqueue(queue, { due: { inMs: yearMs } })).id);
    ids.set('awaiting', (await fixture.enqueue(queue, childOf([elsewhere]))).id);
    return ids;
  };

  const effects = {
    cancel: {
      enqueued: 'cancelled',
      scheduled: 'cancelled',
      awaiting: 'cancelled',
      processing: 'processing',
    },
    retry: { failed: 'enqueued', cancelled: 'enqueued' },
    run: { scheduled: 'enqueued', awaiting: 'enqueued' },
    reschedule: { scheduled: 'scheduled' },
    rename: { enqueued: 'enqueued', scheduled: 'scheduled', awaiting: 'awaiting' },
    delete: { done: undefined, failed: undefined, cancelled: undefined },
  } as const;

  const requestOf = (action: string, filter: JobFilter): BulkRequest => ({
    action: action as keyof typeof effects,
    filter,
    ...(action === 'reschedule' && { runAt: new Date('2900-01-01T00:00:00Z') }),
    ...(action === 'rename' && { toName: 'renamed' }),
  });

  for (const [action, effect] of Object.entries(effects)) {
    it(`applies ${action} to every matching job in a permitted state, and to no other`, async () => {
      const queue = fixture.newQueue();
      const ids = await oneInEach(queue);
      const operation = await bulk.carryOut(requestOf(action, { queue: [queue] }));
      const changed = Object.keys(effect).length;
      expect(operation).to.include({ state: 'done', seen: changed, changed, skipped: 0 });
      for (const [state, id] of ids) {
        const expected = state in effect ? effect[state as keyof typeof effect] : state;
        expect(await stateOf(id), state).to.equal(expected);
      }
    });

    it(`applies ${action} to a selection, and skips unknown jobs and those in other states`, async () => {
      const queue = fixture.newQueue();
      const ids = await oneInEach(queue);
      const id = [...ids.values(), newId(), 'nothing'];
      const operation = await bulk.carryOut(requestOf(action, { id }));
      const changed = Object.keys(effect).length;
      expect(operation).to.include({ state: 'done', seen: 9, changed, skipped: 9 - changed });
    });
  }

  it('does nothing for a selection of malformed ids', async () => {
    const queue = fixture.newQueue();
    const [id] = await bulk.fill(queue, 1);
    expect(await bulk.carryOut({ action: 'cancel', filter: { id: ['nothing'] } })).to.include({
      seen: 1,
      changed: 0,
      skipped: 1,
    });
    expect(await stateOf(id ?? '')).to.equal('enqueued');
  });

  it('applies the members of its filter', async () => {
    const queue = fixture.newQueue();
    const [tagged] = await bulk.fill(queue, 1, { meta: { tags: ['night'] }, args: '{"n":7}' });
    const [other] = await bulk.fill(queue, 1, { meta: { tags: ['night'] } });
    const args = [{ path: ['n'], values: [7] }];
    const createdBefore = new Date((await fixture.storage.readClock()).getTime() + hourMs);
    const filter = { queue: [queue], tag: ['night'], args, createdBefore };
    const operation = await bulk.carryOut({ action: 'cancel', filter });
    expect(operation).to.include({ changed: 1 });
    expect(operation.filter).to.deep.equal(filter);
    expect(await stateOf(tagged ?? '')).to.equal('cancelled');
    expect(await stateOf(other ?? '')).to.equal('enqueued');
  });

  it('ignores jobs that were enqueued after it started', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 2);
    const { id } = await fixture.storage.bulk.start({ action: 'cancel', filter: { queue: [queue] } });
    const [late] = await bulk.fill(queue, 1);
    expect(await bulk.carriedOut(id)).to.include({ changed: 2 });
    expect(await stateOf(late ?? '')).to.equal('enqueued');
  });

  it('ignores listed jobs that finished after it started', async () => {
    const { storage } = fixture;
    const { claim } = await fixture.claimOne();
    const operation = await storage.bulk.start({ action: 'delete', filter: { id: [claim.jobId] } });
    await fixture.untilAfter(operation.createdAt);
    await storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    expect(await bulk.carriedOut(operation.id)).to.include({ changed: 0 });
    expect(await stateOf(claim.jobId)).to.equal('done');
  });

  it('reschedules every matching scheduled job to the same time, and records the transitions', async () => {
    const queue = fixture.newQueue();
    const ids = await bulk.fill(queue, 3, { due: { inMs: yearMs } });
    const runAt = new Date('2900-01-01T00:00:00.123Z');
    const operation = await bulk.carryOut({ action: 'reschedule', filter: { queue: [queue] }, runAt });
    expect(operation.runAt).to.deep.equal(runAt);
    const jobs = await fixture.storage.jobs.findMany(ids);
    expect(jobs.map((job) => job.runAt)).to.deep.equal([runAt, runAt, runAt]);
    const transitions = await fixture.storage.reports.listTransitions(ids[0] ?? '', 10);
    expect(transitions.map(({ reason }) => reason)).to.include('rescheduled');
  });

  it('lets rescheduled jobs start at once if their new time is past', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 2, { due: { inMs: yearMs } });
    await bulk.carryOut({ action: 'reschedule', filter: { queue: [queue] }, runAt: new Date(1_000) });
    await eventually(
      async () => {
        await fixture.storage.maintenance.promoteDue(100);
        return (await fixture.storage.queues.find(queue))?.counts.enqueued;
      },
      (ready) => ready === 2,
    );
  });

  it('refuses to reschedule without a time, and a time for other actions', async () => {
    const filter = { queue: [fixture.newQueue()] };
    for (const request of [
      { action: 'reschedule', filter },
      { action: 'reschedule', filter, runAt: new Date(NaN) },
      { action: 'retry', filter, runAt: new Date(1_000) },
    ] as const) {
      const error: unknown = await fixture.storage.bulk.start(request).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RangeError);
    }
  });

  it('shows its reason with the running jobs that it cancels', async () => {
    const { queue, claim } = await fixture.claimOne();
    const request = { action: 'cancel', filter: { queue: [queue] }, reason: 'wrong address' } as const;
    expect(await bulk.carryOut(request)).to.include({ reason: 'wrong address', changed: 1 });
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ cancelReason: 'wrong address' });
  });

  it('makes servers abort the running jobs that it cancels', async () => {
    const queue = fixture.newQueue();
    const endless = defineJob({ name: 'endless', queue });
    const handler = handleJob(endless, async ({ signal }) => {
      await new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    });
    await whileServing(fixture, queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(endless, {});
      await jobInState(fixture, id, 'processing');
      const operation = await fixture.storage.bulk.start({ action: 'cancel', filter: { queue: [queue] } });
      await jobInState(fixture, id, 'cancelled');
      const ended = await eventually(
        () => fixture.storage.bulk.find(operation.id),
        (found) => found?.state === 'done',
      );
      expect(ended).to.include({ changed: 1 });
    });
  });

  it('resolves the dependents and the batch of jobs that it cancels', async () => {
    const queue = fixture.newQueue();
    const batchId = newId();
    const jobs = Array.from({ length: 3 }, () => ({ ...newJob(queue), meta: { batchId } }));
    await fixture.storage.enqueuer.enqueueBatch({ id: batchId, name: null, jobs, callback: null });
    const child = await fixture.enqueue(fixture.newQueue(), childOf([batchId], 'onAny'));
    await resolveAll(fixture.storage);
    await bulk.carryOut({ action: 'cancel', filter: { batchId: [batchId] } });
    await resolveAll(fixture.storage);
    expect(await fixture.storage.batches.find(batchId)).to.include({ cancelled: 3, percent: 100 });
    expect(await stateOf(child.id)).to.equal('enqueued');
    await bulk.carryOut({ action: 'retry', filter: { batchId: [batchId] } });
    await resolveAll(fixture.storage);
    expect(await fixture.storage.batches.find(batchId)).to.include({ cancelled: 0, finishedAt: null });
  });

  it('unblocks retried jobs of a concurrency key one by one', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 3, { meta: { concurrencyKey: 'tenant', concurrencyLimit: 1 } });
    await bulk.carryOut({ action: 'cancel', filter: { queue: [queue] } });
    await bulk.carryOut({ action: 'retry', filter: { queue: [queue] } });
    await resolveAll(fixture.storage);
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue)).to.have.length(1);
    expect(await fixture.storage.jobs.count({ queue: [queue], state: ['enqueued'] })).to.include({
      count: 2,
    });
  });

  it('gives a retried job one more attempt, and keeps its earlier ones', async () => {
    const { queue, claim } = await fixture.claimOne({ maxAttempts: 1 });
    await fixture.storage.completions.complete([{ claim, outcome: outcomeOf.failed }]);
    await bulk.carryOut({ action: 'retry', filter: { queue: [queue], state: ['failed'] } });
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({ state: 'enqueued', maxAttempts: 2 });
    expect(
      (await fixture.storage.jobs.listAttempts(claim.jobId)).map(({ outcome }) => outcome),
    ).to.deep.equal(['failed']);
  });

  it('keeps counts correct', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 30);
    await bulk.fill(queue, 20, { due: { inMs: yearMs } });
    await bulk.carryOut({ action: 'run', filter: { queue: [queue] } });
    await bulk.carryOut({ action: 'cancel', filter: { queue: [queue] } });
    const counts = async () =>
      (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.counts;
    expect(await counts()).to.include({ enqueued: 0, scheduled: 0, cancelled: 50 });
    await bulk.carryOut({ action: 'delete', filter: { queue: [queue] } });
    expect(await counts()).to.include({ cancelled: 0 });
  });
}
