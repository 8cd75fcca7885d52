import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  defineJob,
  handleJob,
  type Job,
  JobClient,
  type JobContext,
  type JobDefinition,
  JobServer,
  silentLogger,
} from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import type { Fixture } from './storage-under-test.js';

/** Defines the tests that handlers enqueue jobs, and that these name the job that enqueued them. */
export function enqueuingFromHandlers(fixture: Fixture): void {
  /** Runs a job with this handler to its end. Returns the job and those that its handler enqueued, oldest first. */
  async function run(
    work: (context: JobContext<unknown>, other: JobDefinition) => Promise<unknown>,
  ): Promise<{ job: Job; enqueued: Job[] }> {
    const definition = defineJob({ name: 'fan-out', queue: fixture.newQueue(), maxAttempts: 1 });
    const other = defineJob({ name: 'other', queue: fixture.newQueue() });
    const handler = handleJob(definition, (context) => work(context, other));
    const { storage } = fixture;
    const server = new JobServer({ storage, handlers: [handler], logger: silentLogger, ...patientServer });
    await server.start();
    try {
      const { id } = await new JobClient(storage).enqueue(definition, {});
      const job = await eventually(
        () => storage.jobs.find(id),
        (found) => found?.state === 'done' || found?.state === 'failed',
      );
      if (job === null) return expect.fail('The job is gone');
      const filter = { enqueuedBy: [id] };
      return { job, enqueued: await storage.jobs.list({ filter, order: 'oldest', limit: 100 }) };
    } finally {
      await server.stop();
    }
  }

  it('name the job that enqueued them, whichever method enqueued them', async () => {
    const { job, enqueued } = await run(async ({ enqueue, enqueueMany, enqueueBatch }, other) => {
      await enqueue(other, { n: 1 });
      await enqueueMany([
        { definition: other, args: { n: 2 } },
        { definition: other, args: { n: 3 }, options: { after: { parents: [0] } } },
      ]);
      await enqueueBatch({
        jobs: [{ definition: other, args: { n: 4 } }],
        callback: { definition: other, args: { n: 5 } },
      });
    });
    expect(job).to.include({ state: 'done', enqueuedBy: null });
    expect(enqueued.map(({ args }) => args)).to.have.deep.members([1, 2, 3, 4, 5].map((n) => ({ n })));
    for (const { enqueuedBy } of enqueued) expect(enqueuedBy).to.equal(job.id);
    expect(enqueued.filter(({ batchId }) => batchId !== null)).to.have.length(1);
  });

  it('do not depend on the job that enqueued them', async () => {
    const { job, enqueued } = await run(async ({ enqueue }, other) => {
      await enqueue(other, {});
      throw new Error('after it has enqueued');
    });
    expect(job.state).to.equal('failed');
    expect(enqueued[0]).to.deep.include({ state: 'enqueued', parentIds: [] });
    await fixture.storage.control.delete(job.id);
    const left = await fixture.storage.jobs.find(enqueued[0]?.id ?? '');
    expect(left?.enqueuedBy).to.equal(job.id);
  });

  it('take every option of the client', async () => {
    const { job, enqueued } = await run(async ({ enqueue }, other) => {
      const { id } = await enqueue(other, {}, { delayMs: 60_000 });
      const options = { priority: -3, tags: ['fan-out'], unique: { key: 'one' } };
      await enqueue(other, {}, { ...options, after: { parents: [id] }, delayMs: 60_000 });
      await enqueue(other, {}, options);
    });
    expect([job.error, enqueued.length]).to.deep.equal([null, 2]);
    expect(enqueued[1]).to.deep.include({
      priority: -3,
      tags: ['fan-out'],
      parentIds: [enqueued[0]?.id],
      delayMs: 60_000,
    });
  });

  it('keep the job that enqueued them when another job replaces their content', async () => {
    const definition = defineJob({ name: 'replaced', queue: fixture.newQueue() });
    const [first, second] = [newId(), newId()];
    const unique = { key: 'a', onConflict: 'replace' } as const;
    const client = new JobClient(fixture.storage);
    const enqueueFor = (enqueuedBy: string, tag: string) =>
      client
        .boundTo(() => ({ enqueuedBy }))
        .enqueue(definition, {}, { unique, tags: [tag], delayMs: 60_000 });
    const { id } = await enqueueFor(first, 'old');
    await enqueueFor(second, 'new');
    expect(await fixture.storage.jobs.find(id)).to.deep.include({ enqueuedBy: first, tags: ['new'] });
  });
}
