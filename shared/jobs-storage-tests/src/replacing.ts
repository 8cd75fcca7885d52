import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  defineJob,
  type EnqueuedJob,
  type EnqueueOptions,
  type Job,
  JobClient,
  type JobDefinition,
} from '@longshore/jobs';
import type { ClaimedJob } from '@longshore/jobs/storage';
import { type Fixture, yearMs } from './storage-under-test.js';

/** Defines the tests of unique keys with `onConflict: 'replace'`: the new job replaces the content of the existing one. */
export function replacing(fixture: Fixture): void {
  const client = (): JobClient => new JobClient(fixture.storage);
  const definition = (): JobDefinition => defineJob({ name: 'replaced', queue: fixture.newQueue() });

  const replace = (job: JobDefinition, args: object, options: EnqueueOptions = {}): Promise<EnqueuedJob> =>
    client().enqueue(job, args, { ...options, unique: { key: 'a', onConflict: 'replace' } });

  const find = async ({ id }: { id: string }): Promise<Job> =>
    (await fixture.storage.jobs.find(id)) ?? expect.fail('The job is gone');

  /** Resolves dependencies until a job can be claimed. */
  const resolvedAndClaimed = (serverId: string, { queue }: JobDefinition): Promise<ClaimedJob> =>
    eventually(async () => {
      await fixture.storage.maintenance.resolveDependencies(10);
      return (await fixture.claim(serverId, queue))[0];
    });

  const later = { delayMs: yearMs };
  const changes: readonly [title: string, first: EnqueueOptions, then: EnqueueOptions][] = [
    ['that is ready', {}, {}],
    ['that is ready, and lets it wait for a time', {}, later],
    ['that waits for a time', later, { delayMs: 2 * yearMs }],
    ['that waits for a time, and makes it ready', later, {}],
    [
      'with a concurrency key',
      { concurrency: { key: 'x', limit: 1 } },
      { concurrency: { key: 'y', limit: 2 } },
    ],
    ['with a concurrency key, which it loses', { concurrency: { key: 'x', limit: 1 } }, {}],
  ];
  for (const [title, first, then] of changes) {
    it(`replaces the content of a job ${title}`, async () => {
      const job = definition();
      const standing = await replace(job, { n: 1 }, { ...first, tags: ['old'], priority: 1 });
      const created = await find(standing);
      const answer = await replace(job, { n: 2 }, { ...then, tags: ['new'], priority: 2, maxAttempts: 3 });
      const replaced = await find(standing);
      expect(answer).to.deep.equal({ ...standing, created: false });
      expect(replaced).to.deep.include({ args: { n: 2 }, tags: ['new'], priority: 2, maxAttempts: 3 });
      expect(replaced.createdAt).to.deep.equal(created.createdAt);
      expect(replaced.state).to.equal(then.delayMs === undefined ? 'enqueued' : 'scheduled');
      const counts = (await fixture.storage.queues.list()).find(({ name }) => name === job.queue)?.counts;
      expect(counts).to.include({ enqueued: 0, scheduled: 0, [replaced.state]: 1 });
    });
  }

  it('runs a replaced job with its new content', async () => {
    const job = definition();
    const standing = await replace(job, { n: 1 }, later);
    await replace(job, { n: 2 }, { concurrency: { key: 'x', limit: 1 } });
    const { id } = await fixture.register(job.queue);
    const claimed = await resolvedAndClaimed(id, job);
    expect(claimed).to.deep.include({ args: { n: 2 } });
    expect(claimed.claim.jobId).to.equal(standing.id);
  });

  it('unblocks the next job of a concurrency key that a replaced job leaves', async () => {
    const job = definition();
    const concurrency = { key: 'x', limit: 1 };
    await replace(job, {}, { concurrency });
    const next = await client().enqueue(job, {}, { concurrency });
    await fixture.storage.maintenance.resolveDependencies(10);
    await replace(job, {}, later);
    const { id } = await fixture.register(job.queue);
    const claimed = await resolvedAndClaimed(id, job);
    expect(claimed.claim.jobId).to.equal(next.id);
  });

  it('replaces the content of an awaiting job, which keeps waiting', async () => {
    const job = definition();
    const parent = await client().enqueue(job, {});
    const after = { parents: [parent.id] };
    const standing = await client().enqueue(job, { n: 1 }, { after, unique: { key: 'a' } });
    await replace(job, { n: 2 });
    expect(await find(standing)).to.deep.include({ args: { n: 2 }, state: 'awaiting', parentId: parent.id });
  });

  it('does not change a running job', async () => {
    const job = definition();
    const standing = await replace(job, { n: 1 });
    const { id } = await fixture.register(job.queue);
    await fixture.claim(id, job.queue);
    expect(await replace(job, { n: 2 })).to.deep.equal({ ...standing, created: false });
    expect(await find(standing)).to.deep.include({ args: { n: 1 }, state: 'processing' });
  });

  it('keeps the attempts of a replaced job, with at least one more', async () => {
    const job = definition();
    const standing = await replace(job, {});
    const { id } = await fixture.register(job.queue);
    const [first] = await fixture.claim(id, job.queue);
    if (first === undefined) throw new Error('The job could not be claimed');
    const error = { name: 'Error', message: 'no', stack: null };
    await fixture.storage.completions.complete([
      { claim: first.claim, outcome: { kind: 'retry', error, delayMs: yearMs } },
    ]);
    await replace(job, { n: 2 }, { maxAttempts: 1 });
    expect(await find(standing)).to.deep.include({
      args: { n: 2 },
      state: 'enqueued',
      attempt: 1,
      maxAttempts: 2,
    });
    expect(await fixture.storage.jobs.listAttempts(standing.id)).to.have.length(1);
  });

  it('keeps a replaced job in its batch, which finishes with it', async () => {
    const job = definition();
    const batch = await client().enqueueBatch({
      jobs: [{ definition: job, args: { n: 1 }, options: { unique: { key: 'a' } } }],
    });
    await replace(job, { n: 2 });
    const { id } = await fixture.register(job.queue);
    const [claimed] = await fixture.claimSome(id, job.queue);
    await fixture.storage.completions.complete([
      { claim: claimed.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
    ]);
    await eventually(
      async () => {
        await fixture.storage.maintenance.resolveDependencies(10);
        return fixture.storage.batches.find(batch.id);
      },
      (found) => found?.finishedAt instanceof Date,
    );
  });

  it('creates the last of several jobs with one key in one call, with the id of the first', async () => {
    const job = definition();
    const unique = { key: 'a', onConflict: 'replace' } as const;
    const orders = [1, 2, 3].map((n) => ({ definition: job, args: { n }, options: { unique } }));
    const enqueued = await client().enqueueMany(orders);
    expect(enqueued.map(({ created }) => created)).to.deep.equal([true, false, false]);
    const [stored, ...more] = await fixture.jobsOf(job.queue);
    expect(stored).to.deep.include({ id: enqueued[0]?.id, args: { n: 3 } });
    expect(more).to.deep.equal([]);
  });

  it('loses neither jobs nor changes while servers claim the replaced jobs', async () => {
    const job = definition();
    const { id } = await fixture.register(job.queue);
    const started = new Map<string, unknown>();
    for (let n = 0; n < 40; n++) {
      const [answer, claimed] = await Promise.all([replace(job, { n }), fixture.claim(id, job.queue)]);
      for (const { claim, args } of claimed) {
        started.set(claim.jobId, args);
        await fixture.storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
      }
      // Either the job is waiting with the new content, or it has been claimed with the new or earlier content.
      const { args, state } = await find(answer);
      if (state === 'enqueued') expect(args).to.deep.equal({ n });
      else expect(started.has(answer.id)).to.equal(true);
    }
  });
}
