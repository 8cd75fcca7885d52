import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  defineJob,
  DuplicateJobError,
  type EnqueuedJob,
  type EnqueueOptions,
  JobClient,
  type JobDefinition,
  type JobState,
} from '@longshore/jobs';
import type { Outcome, Uniqueness } from '@longshore/jobs/storage';
import { type Fixture, hourMs, moveJob, yearMs } from './storage-under-test.js';

const error = { name: 'Error', message: 'no', stack: null };

/** Defines the tests of unique keys. */
export function uniqueness(fixture: Fixture): void {
  const client = (): JobClient => new JobClient(fixture.storage);
  const definition = (): JobDefinition => defineJob({ name: 'unique', queue: fixture.newQueue() });

  const enqueue = (
    job: JobDefinition,
    unique: Partial<Uniqueness> = {},
    args: object = {},
    options: EnqueueOptions = {},
  ): Promise<EnqueuedJob> => client().enqueue(job, args, { ...options, unique: { key: 'a', ...unique } });

  /** Claims the next job, and completes it if an outcome is given. */
  async function run({ queue }: JobDefinition, outcome?: Outcome): Promise<void> {
    const { id } = await fixture.register(queue);
    const [job] = await fixture.claimSome(id, queue, 1);
    if (outcome !== undefined) await fixture.storage.completions.complete([{ claim: job.claim, outcome }]);
  }

  async function problemOf(enqueued: Promise<unknown>): Promise<unknown> {
    return enqueued.catch((problem: unknown) => problem);
  }

  it('creates no second job with a key, and returns the holder', async () => {
    const job = definition();
    const first = await enqueue(job);
    const second = await enqueue(job);
    expect(first).to.include({ queue: job.queue, created: true });
    expect(second).to.deep.equal({ ...first, created: false });
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
  });

  it('creates one job for 50 concurrent callers', async () => {
    const job = definition();
    const enqueued = await Promise.all(Array.from({ length: 50 }, () => enqueue(job)));
    expect(enqueued.filter(({ created }) => created)).to.have.length(1);
    expect(new Set(enqueued.map(({ id }) => id)).size).to.equal(1);
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
  });

  it('names the holder of an idempotency key only to callers who can see its queue', async () => {
    const job = definition();
    const options = { idempotencyKey: 'a' };
    const elsewhere = fixture.newQueue();
    const first = await client().enqueue(job, { n: 1 }, options);
    await fixture.storage.control.edit([first.id], async (current) => {
      const { priority, args, runAt } = current.get(first.id) ?? expect.fail('it is gone');
      const content = { queue: elsewhere, priority, args: JSON.stringify(args), runAt };
      return new Map([[first.id, content]]);
    });
    const messages: string[] = [];
    for (const visibleQueues of [undefined, [job.queue, elsewhere], [job.queue]]) {
      const scoped = { ...options, ...(visibleQueues !== undefined && { visibleQueues }) };
      messages.push(String(await problemOf(client().enqueue(job, { n: 2 }, scoped))));
    }
    expect(messages.map((text) => text.includes(first.id))).to.deep.equal([true, true, false]);
    expect(messages[2]).to.match(
      /^IdempotencyConflictError: .* was already used for a job with another name/,
    );
  });

  it('separates keys, job names and queues', async () => {
    const job = definition();
    const others = [defineJob({ name: 'other', queue: job.queue }), definition()];
    const enqueued = [await enqueue(job), await enqueue(job, { key: 'b' })];
    for (const other of others) enqueued.push(await enqueue(other));
    expect(enqueued.map(({ created }) => created)).to.deep.equal([true, true, true, true]);
  });

  it('accepts jobs without a key next to one with a key', async () => {
    const job = definition();
    await enqueue(job);
    expect(await client().enqueue(job, {})).to.include({ created: true });
  });

  it('derives the definition’s key from the arguments, regardless of member order', async () => {
    const job = defineJob({ name: 'by-arguments', queue: fixture.newQueue(), unique: true });
    const first = await client().enqueue(job, { a: 1, b: { c: 2, d: 3 } });
    const same = await client().enqueue(job, { b: { d: 3, c: 2 }, a: 1 });
    const other = await client().enqueue(job, { a: 1, b: { c: 2, d: 4 } });
    expect(same).to.deep.equal({ ...first, created: false });
    expect(other.created).to.equal(true);
  });

  it('lets the options remove the definition’s key', async () => {
    const job = defineJob({ name: 'optional', queue: fixture.newQueue(), unique: { key: 'always' } });
    await client().enqueue(job, {});
    expect(await client().enqueue(job, {}, { unique: null })).to.include({ created: true });
  });

  const holding: readonly [JobState, EnqueueOptions, Outcome | null | undefined][] = [
    ['scheduled', { delayMs: yearMs }, undefined],
    ['enqueued', {}, undefined],
    ['processing', {}, null],
    ['scheduled', {}, { kind: 'retry', error, delayMs: yearMs }],
  ];
  for (const [state, options, outcome] of holding) {
    it(`keeps the key of a job that is ${state}${outcome ? ' for a retry' : ''}`, async () => {
      const job = definition();
      const first = await enqueue(job, {}, {}, options);
      if (outcome !== undefined) await run(job, outcome ?? undefined);
      expect((await fixture.storage.jobs.find(first.id))?.state).to.equal(state);
      expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
    });
  }

  it('keeps the key of an awaiting job', async () => {
    const job = definition();
    const parent = await client().enqueue(job, {});
    const first = await enqueue(job, {}, {}, { after: { parents: [parent.id] } });
    expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
  });

  const outcomes: readonly Outcome[] = [
    { kind: 'done', result: 'null' },
    { kind: 'failed', error },
    { kind: 'cancelled', error },
  ];
  for (const outcome of outcomes) {
    it(`frees the key of a job that is ${outcome.kind}`, async () => {
      const job = definition();
      const first = await enqueue(job);
      await run(job, outcome);
      const second = await enqueue(job);
      expect(second.created).to.equal(true);
      expect(second.id).not.to.equal(first.id);
      expect(await enqueue(job)).to.deep.equal({ ...second, created: false });
    });
  }

  it('frees the key of a deleted job', async () => {
    const job = definition();
    const { id } = await enqueue(job, { states: ['cancelled'], periodMs: hourMs });
    await fixture.storage.control.cancel(id);
    expect((await enqueue(job)).created).to.equal(false);
    await fixture.storage.control.delete(id);
    expect((await enqueue(job)).created).to.equal(true);
  });

  it('keeps the key in the given states', async () => {
    const job = definition();
    const first = await enqueue(job, { states: ['enqueued'] });
    expect((await enqueue(job)).created).to.equal(false);
    await run(job);
    const second = await enqueue(job, { states: ['enqueued'] });
    expect(second.created).to.equal(true);
    expect(second.id).not.to.equal(first.id);
  });

  it('keeps the key of a done job for its period', async () => {
    const job = definition();
    const first = await enqueue(job, { states: ['enqueued', 'done'], periodMs: hourMs });
    await run(job, { kind: 'done', result: 'null' });
    expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
  });

  it('frees a key after its period, although the job remains', async () => {
    const job = definition();
    await enqueue(job, { periodMs: 1 });
    await eventually(
      () => enqueue(job),
      ({ created }) => created,
    );
    expect(await fixture.jobsOf(job.queue)).to.have.length(2);
  });

  it('rejects a job whose policy is reject, and names the holder', async () => {
    const job = definition();
    const { id } = await enqueue(job);
    const problem = await problemOf(enqueue(job, { onConflict: 'reject' }));
    expect(problem).to.be.instanceOf(DuplicateJobError).and.include({ key: 'a', holderId: id });
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
  });

  it('enqueues none of several jobs if one is rejected for its key', async () => {
    const job = definition();
    await enqueue(job);
    const orders = ['b', 'a', 'c'].map((key) => ({
      definition: job,
      args: {},
      options: { unique: { key, onConflict: 'reject' as const } },
    }));
    expect(await problemOf(client().enqueueMany(orders))).to.be.instanceOf(DuplicateJobError);
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
    expect((await enqueue(job, { key: 'b' })).created).to.equal(true);
  });

  it('creates the first of several jobs with one key in one call', async () => {
    const job = definition();
    const options = { unique: { key: 'a' } };
    const orders = [1, 2, 3].map((n) => ({ definition: job, args: { n }, options }));
    const enqueued = await client().enqueueMany([...orders, { definition: job, args: { n: 4 } }]);
    expect(enqueued.map(({ created }) => created)).to.deep.equal([true, false, false, true]);
    expect(new Set(enqueued.slice(0, 3).map(({ id }) => id)).size).to.equal(1);
    const stored = (await fixture.jobsOf(job.queue)).map(({ args }) => args);
    expect(stored).to.have.deep.members([{ n: 1 }, { n: 4 }]);
  });

  it('replaces a parent that was not created by the holder of its key', async () => {
    const job = definition();
    const standing = await enqueue(job);
    const [, child] = await client().enqueueMany([
      { definition: job, args: {}, options: { unique: { key: 'a' } } },
      { definition: job, args: {}, options: { after: { parents: [0] } } },
    ]);
    expect(await fixture.storage.jobs.find(child?.id ?? '')).to.include({
      state: 'awaiting',
      parentId: standing.id,
    });
  });

  it('counts only created jobs in a batch', async () => {
    const job = definition();
    const standing = await enqueue(job);
    const jobs = ['a', 'b'].map((key) => ({ definition: job, args: {}, options: { unique: { key } } }));
    const batch = await client().enqueueBatch({ jobs });
    expect(batch.jobs.map(({ created }) => created)).to.deep.equal([false, true]);
    expect((await fixture.storage.batches.find(batch.id))?.total).to.equal(1);
    expect((await fixture.storage.jobs.find(standing.id))?.batchId).to.equal(null);
  });

  it('gives a retried job its key back, unless another job has taken it', async () => {
    const job = definition();
    const first = await enqueue(job);
    await run(job, { kind: 'failed', error });
    await fixture.storage.maintenance.maintain();
    await fixture.storage.control.retry(first.id);
    expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
    await fixture.storage.control.cancel(first.id);
    const second = await enqueue(job);
    await fixture.storage.control.retry(first.id);
    expect(await enqueue(job)).to.deep.equal({ ...second, created: false });
  });

  it('keeps the key of a moved job in its original queue', async () => {
    const job = definition();
    const first = await enqueue(job);
    await moveJob(fixture.storage, first.id, fixture.newQueue());
    await fixture.storage.maintenance.maintain();
    expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
  });

  it('keeps the key of a job that is moved twice, and moved back', async () => {
    const job = definition();
    const first = await enqueue(job, {}, {}, { delayMs: yearMs });
    for (const queue of [fixture.newQueue(), fixture.newQueue(), job.queue]) {
      await moveJob(fixture.storage, first.id, queue);
      expect(await enqueue(job)).to.deep.equal({ ...first, created: false });
    }
  });

  it('frees the key of a moved job when it ends', async () => {
    const job = definition();
    const there = definition();
    const first = await enqueue(job);
    await moveJob(fixture.storage, first.id, there.queue);
    await run(there, { kind: 'done', result: 'null' });
    expect(await enqueue(job)).to.include({ created: true });
  });

  it('replaces the content of a moved job in its new queue', async () => {
    const job = definition();
    const queue = fixture.newQueue();
    const first = await enqueue(job, {}, { n: 1 }, { delayMs: yearMs });
    await moveJob(fixture.storage, first.id, queue);
    const second = await enqueue(job, { onConflict: 'replace' }, { n: 2 }, { delayMs: yearMs });
    expect(second).to.deep.equal({ ...first, created: false });
    expect(await fixture.storage.jobs.find(first.id)).to.deep.include({ queue, args: { n: 2 } });
  });

  it('keeps the key of a queue separate from that of a job moved there', async () => {
    const [from, to] = [definition(), definition()];
    const [moved, standing] = [await enqueue(from), await enqueue(to)];
    await moveJob(fixture.storage, moved.id, to.queue);
    expect(await enqueue(to)).to.deep.equal({ ...standing, created: false });
    expect(await enqueue(from)).to.deep.equal({ ...moved, created: false });
  });
}
