import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import {
  defineJob,
  handleJob,
  JobClient,
  type JobHandler,
  type JobState,
  runOnce,
  type RunOnceOptions,
  type RunReport,
  silentLogger,
} from '@longshore/jobs';
import { steadyServer } from './serving-queue.js';
import { type Fixture, yearMs } from './storage-under-test.js';

/** Defines the tests of runs that end when nothing is left. */
export function draining(fixture: Fixture): void {
  const run = (handlers: readonly JobHandler[], options: Partial<RunOnceOptions> = {}): Promise<RunReport> =>
    runOnce({ storage: fixture.storage, handlers, ...steadyServer, ...options });

  const stateOf = async ({ id }: { readonly id: string }): Promise<JobState | undefined> =>
    (await fixture.storage.jobs.find(id))?.state;

  const none = { done: 0, failed: 0, retrying: 0, cancelled: 0, snoozed: 0, suspended: 0, drained: true };

  it('runs what is ready, what that enqueues and what waits for it, and counts how it ended', async () => {
    const queue = fixture.newQueue();
    const [first, child, after] = [
      defineJob({ name: 'first', queue }),
      defineJob({ name: 'child', queue }),
      defineJob({ name: 'after', queue }),
    ];
    const broken = defineJob({ name: 'broken', queue, maxAttempts: 1 });
    const client = new JobClient(fixture.storage);
    const order: string[] = [];
    const noting = (definition: typeof first, work?: () => Promise<unknown>): JobHandler =>
      handleJob(definition, async () => {
        order.push(definition.name);
        await work?.();
      });
    const handlers = [
      noting(first, () => client.enqueue(child)),
      noting(child),
      noting(after),
      noting(broken, () => Promise.reject(new Error('no'))),
    ];
    const parent = await client.enqueue(first);
    await client.enqueue(after, {}, { after: { parents: [parent.id] } });
    await client.enqueueBatch({
      jobs: [{ definition: broken }],
      callback: { definition: after },
      callbackWhen: 'onAny',
    });
    expect(await run(handlers)).to.deep.equal({ ...none, done: 4, failed: 1 });
    expect(order.toSorted()).to.deep.equal(['after', 'after', 'broken', 'child', 'first']);
  });

  it('runs more jobs than it runs at once', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    const jobs = Array.from({ length: 30 }, () => ({ definition: work }));
    await new JobClient(fixture.storage).enqueueMany(jobs);
    const handler = handleJob(work, () => new Promise((resolve) => setImmediate(resolve)));
    expect(await run([handler], { concurrency: 2 })).to.deep.equal({ ...none, done: 30 });
  });

  it('leaves what is due later, retries included', async () => {
    const queue = fixture.newQueue();
    const later = defineJob({ name: 'later', queue });
    const flaky = defineJob({ name: 'flaky', queue, retryDelay: () => yearMs });
    const client = new JobClient(fixture.storage);
    const [scheduled, retried] = [
      await client.enqueue(later, {}, { delayMs: yearMs }),
      await client.enqueue(flaky),
    ];
    const handlers = [
      handleJob(later, () => null),
      handleJob(flaky, () => {
        throw new Error('not yet');
      }),
    ];
    expect(await run(handlers)).to.deep.equal({ ...none, retrying: 1 });
    expect([await stateOf(scheduled), await stateOf(retried)]).to.deep.equal(['scheduled', 'scheduled']);
    expect(await run(handlers)).to.deep.equal(none);
  });

  it('runs a scheduled job once it is due', async () => {
    const queue = fixture.newQueue();
    const soon = defineJob({ name: 'soon', queue });
    const job = await new JobClient(fixture.storage).enqueue(soon, {}, { delayMs: 1 });
    await eventually(
      () => run([handleJob(soon, () => null)]),
      ({ done }) => done === 1,
    );
    expect(await stateOf(job)).to.equal('done');
  });

  it('leaves the jobs of a paused queue and of unknown names', async () => {
    const [queue, paused] = [fixture.newQueue(), fixture.newQueue()];
    const work = defineJob({ name: 'work', queue });
    const unknown = defineJob({ name: 'unknown', queue });
    const client = new JobClient(fixture.storage);
    const left = [await client.enqueue(work, {}, { queue: paused }), await client.enqueue(unknown)];
    await fixture.storage.queues.pause(paused);
    expect(await run([handleJob(work, () => null)], { queues: [queue, paused] })).to.deep.equal(none);
    expect(await Promise.all(left.map(stateOf))).to.deep.equal(['enqueued', 'enqueued']);
  });

  it('shares the jobs with another run', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    const client = new JobClient(fixture.storage);
    const jobs = await client.enqueueMany(Array.from({ length: 40 }, () => ({ definition: work })));
    const ran: string[] = [];
    const handler = handleJob(work, ({ job }) => {
      ran.push(job.id);
    });
    const reports = await Promise.all([1, 2].map(() => run([handler], { concurrency: 3 })));
    expect(reports.map(({ drained }) => drained)).to.deep.equal([true, true]);
    expect(ran.toSorted()).to.deep.equal(jobs.map(({ id }) => id).toSorted());
  });

  it('ends early when its signal aborts, and leaves the rest', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    const stopping = new AbortController();
    const client = new JobClient(fixture.storage);
    let claimsNoMore = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (claimsNoMore = resolve));
    const info = (_: object, message: string): void => {
      if (message === 'server stopping') claimsNoMore();
    };
    const handler = handleJob(work, async () => {
      stopping.abort();
      await stopped;
      return (await client.enqueue(work)).id;
    });
    const first = await client.enqueue(work);
    const options = { signal: stopping.signal, stopTimeoutMs: 3_600_000, logger: { ...silentLogger, info } };
    expect(await run([handler], options)).to.deep.equal({ ...none, done: 1, drained: false });
    const second = { id: (await fixture.storage.jobs.find(first.id))?.result as string };
    expect(await stateOf(second)).to.equal('enqueued');
    expect(await run([handler], options)).to.deep.equal({ ...none, drained: false });
    expect(await stateOf(second)).to.equal('enqueued');
  });

  it('leaves no server behind', async () => {
    const before = (await fixture.storage.servers.list()).map(({ id }) => id);
    await run([handleJob(defineJob({ name: 'work', queue: fixture.newQueue() }), () => null)]);
    expect((await fixture.storage.servers.list()).map(({ id }) => id)).to.deep.equal(before);
  });
}
