import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, type JobError, JobServer } from '@longshore/jobs';
import type { ClaimedJob, NewJob, Outcome } from '@longshore/jobs/storage';
import { steadyServer } from './serving-queue.js';
import { OverlapGate } from './overlap-gate.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

const error: JobError = { name: 'Error', message: 'no', stack: null };

const keyed = (queue: string, key: string, limit: number): NewJob => ({
  ...newJob(queue),
  meta: { concurrencyKey: key, concurrencyLimit: limit },
});

/**
 * Defines the tests of concurrency keys: each key limits how many of its jobs run at once, and does not affect other
 * keys.
 */
export function keying(fixture: Fixture): void {
  async function resolved(): Promise<void> {
    await eventually(
      () => fixture.storage.maintenance.resolveDependencies(100),
      (count) => count === 0,
    );
  }

  /** Resolves all dependencies, then claims up to 100 ready jobs. */
  async function claimAll(serverId: string, queue: string): Promise<ClaimedJob[]> {
    await resolved();
    return fixture.claim(serverId, queue, 100);
  }

  async function queueWith(jobs: (queue: string) => NewJob[]): Promise<{ queue: string; serverId: string }> {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(jobs(queue));
    const { id } = await fixture.register(queue);
    return { queue, serverId: id };
  }

  const keysOf = (jobs: readonly ClaimedJob[]): string[] =>
    jobs.map(({ meta }) => meta?.concurrencyKey ?? 'none').toSorted();

  const five = (queue: string, key: string, limit: number): NewJob[] =>
    Array.from({ length: 5 }, () => keyed(queue, key, limit));

  it('runs no more jobs of a key at once than its limit', async () => {
    const { queue, serverId } = await queueWith((name) => five(name, 'a', 2));
    expect(await claimAll(serverId, queue)).to.have.length(2);
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
  });

  it('shows a blocked job as not ready', async () => {
    const { queue } = await queueWith((name) => five(name, 'a', 2));
    await resolved();
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10 });
    expect(jobs.map(({ state }) => state)).to.deep.equal(Array.from({ length: 5 }, () => 'enqueued'));
    expect(jobs.filter(({ readyAt }) => readyAt !== null)).to.have.length(2);
  });

  it('gives each key its own limit, and none to jobs without a key', async () => {
    const { queue, serverId } = await queueWith((name) => [
      ...five(name, 'a', 2),
      ...five(name, 'b', 1),
      newJob(name),
    ]);
    expect(keysOf(await claimAll(serverId, queue))).to.deep.equal(['a', 'a', 'b', 'none']);
  });

  it('lets keys share a busy server in proportion to their limits, whichever enqueued first', async () => {
    const { queue, serverId } = await queueWith((name) => [
      ...Array.from({ length: 40 }, () => keyed(name, 'heavy', 3)),
      ...Array.from({ length: 40 }, () => keyed(name, 'light', 1)),
    ]);
    const started: string[] = [];
    while (started.length < 32) {
      await resolved();
      const [job] = await fixture.claim(serverId, queue, 1);
      if (job === undefined) throw new Error('No job is ready');
      started.push(job.meta?.concurrencyKey ?? 'none');
      await fixture.storage.completions.complete([
        { claim: job.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      ]);
    }
    expect(started.filter((key) => key === 'light')).to.have.length(8);
  });

  it('lists the keys that block jobs, with their limits and the jobs that occupy them', async () => {
    const { queue, serverId } = await queueWith((name) => [
      ...five(name, 'b', 1),
      ...Array.from({ length: 9 }, () => keyed(name, 'a', 2)),
      keyed(name, 'free', 1),
    ]);
    await resolved();
    const [running] = await fixture.claim(serverId, queue, 1);
    const { keys, isComplete } = await fixture.storage.queues.listBlockingKeys(queue);
    expect(isComplete).to.equal(true);
    expect(
      keys.map(({ key, blocked, details }) => [
        key,
        blocked.count,
        details?.limit,
        details?.occupants.length,
      ]),
    ).to.deep.equal([
      ['a', 7, 2, 2],
      ['b', 4, 1, 1],
    ]);
    const occupied = keys.find(({ key }) => key === running?.meta?.concurrencyKey)?.details?.occupants[0];
    const job = await fixture.storage.jobs.find(running?.claim.jobId ?? '');
    expect(occupied).to.deep.equal({ id: job?.id, name: job?.name, startedAt: job?.startedAt });
    const all = await fixture.storage.queues.listBlockingKeys();
    expect(all.keys.filter((key) => key.queue === queue)).to.have.length(2);
  });

  it('separates keys of different queues', async () => {
    const first = await queueWith((name) => five(name, 'a', 1));
    const second = await queueWith((name) => five(name, 'a', 1));
    expect(await claimAll(first.serverId, first.queue)).to.have.length(1);
    expect(await claimAll(second.serverId, second.queue)).to.have.length(1);
  });

  it('does not let a key with many jobs hold up a key with one job', async () => {
    const { queue, serverId } = await queueWith((name) => [
      ...Array.from({ length: 50 }, () => keyed(name, 'large', 2)),
      keyed(name, 'small', 2),
    ]);
    await resolved();
    const [first] = await fixture.claim(serverId, queue, 1);
    const [second] = await fixture.claim(serverId, queue, 1);
    for (const { claim } of [first, second].filter((job) => job !== undefined))
      await fixture.storage.completions.complete([
        { claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      ]);
    await resolved();
    expect(keysOf(await fixture.claim(serverId, queue, 1))).to.deep.equal(['small']);
  });

  const outcomes: readonly Outcome[] = [
    { kind: 'done', result: 'null' },
    { kind: 'failed', error },
    { kind: 'cancelled', error },
    { kind: 'retry', error, delayMs: yearMs },
    { kind: 'snooze', delayMs: yearMs },
  ];
  for (const outcome of outcomes) {
    it(`unblocks the next job of a key when an outcome is ${outcome.kind}`, async () => {
      const { queue, serverId } = await queueWith((name) => five(name, 'a', 1));
      const [first] = await claimAll(serverId, queue);
      if (first !== undefined)
        await fixture.storage.completions.complete([{ claim: first.claim, outcome, hasMeta: true }]);
      const next = await claimAll(serverId, queue);
      expect(next.map(({ claim }) => claim.jobId))
        .to.have.length(1)
        .and.not.include(first?.claim.jobId);
    });
  }

  it('shows a blocked job as enqueued', async () => {
    const { queue, serverId } = await queueWith((name) => five(name, 'a', 1));
    await claimAll(serverId, queue);
    const listed = await fixture.storage.jobs.list({
      filter: { queue: [queue], state: ['enqueued'] },
      limit: 10,
    });
    const found = await fixture.storage.jobs.find(listed[0]?.id ?? '');
    const counts = (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.counts;
    expect(listed).to.have.length(4);
    expect(found?.state).to.equal('enqueued');
    expect(counts).to.include({ enqueued: 4, processing: 1 });
  });

  it('unblocks the lowest priority number first, then the oldest', async () => {
    const { queue, serverId } = await queueWith((name) => [keyed(name, 'a', 1)]);
    await resolved();
    const late = await fixture.enqueue(queue, keyed(queue, 'a', 1));
    const urgent = await fixture.enqueue(queue, { ...keyed(queue, 'a', 1), priority: -1 });
    const order: string[] = [];
    for (let place = 0; place < 3; place++) {
      const job = await eventually(async () => (await claimAll(serverId, queue))[0]);
      order.push(job.claim.jobId);
      await fixture.storage.completions.complete([
        { claim: job.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      ]);
    }
    expect(order.slice(1)).to.deep.equal([urgent.id, late.id]);
  });

  it('unblocks the next job when a ready one of the key is cancelled', async () => {
    const { queue, serverId } = await queueWith((name) => [keyed(name, 'a', 1)]);
    const second = await fixture.enqueue(queue, keyed(queue, 'a', 1));
    await resolved();
    const listed = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10 });
    const ready = listed.find(({ id }) => id !== second.id);
    await fixture.storage.control.cancel(ready?.id ?? '');
    expect((await claimAll(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([second.id]);
  });

  it('cancels a blocked job, and blocks it again when it is retried', async () => {
    const { queue, serverId } = await queueWith((name) => [keyed(name, 'a', 1)]);
    const [running] = await claimAll(serverId, queue);
    const { id } = await fixture.enqueue(queue, keyed(queue, 'a', 1));
    expect(await fixture.storage.control.cancel(id)).to.include({ outcome: 'ok', changed: true });
    expect((await fixture.storage.jobs.find(id))?.state).to.equal('cancelled');
    await fixture.storage.control.retry(id);
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
    if (running !== undefined)
      await fixture.storage.completions.complete([
        { claim: running.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      ]);
    expect((await claimAll(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([id]);
  });

  it('blocks scheduled jobs that become due or are run manually', async () => {
    const { queue, serverId } = await queueWith((name) => [keyed(name, 'a', 1)]);
    await claimAll(serverId, queue);
    await fixture.enqueue(queue, { ...keyed(queue, 'a', 1), due: { inMs: 1 } });
    const { id } = await fixture.enqueue(queue, { ...keyed(queue, 'a', 1), due: { inMs: yearMs } });
    await fixture.storage.control.run(id);
    await eventually(
      async () => {
        await fixture.storage.maintenance.promoteDue(1_000);
        return (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.counts;
      },
      (counts) => counts?.enqueued === 2,
    );
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
  });

  it('keeps the slot of a released job, and of one whose server died', async () => {
    const { queue, serverId } = await queueWith((name) => five(name, 'a', 1));
    const [first] = await claimAll(serverId, queue);
    if (first !== undefined) await fixture.storage.claims.release([first.claim]);
    const again = await claimAll(serverId, queue);
    await fixture.silence(serverId);
    await fixture.storage.maintenance.rescue();
    const { id } = await fixture.register(queue);
    const once = await claimAll(id, queue);
    expect([again, once].map((jobs) => jobs.map(({ claim }) => claim.jobId))).to.deep.equal([
      [first?.claim.jobId],
      [first?.claim.jobId],
    ]);
  });

  it('unblocks the next job after one failed with its server', async () => {
    const { queue, serverId } = await queueWith((name) => [{ ...keyed(name, 'a', 1), maxAttempts: 1 }]);
    await claimAll(serverId, queue);
    const { id: next } = await fixture.enqueue(queue, keyed(queue, 'a', 1));
    await fixture.silence(serverId);
    await fixture.storage.maintenance.rescue();
    const { id } = await fixture.register(queue);
    expect((await claimAll(id, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([next]);
  });

  it('blocks a job whose parent has ended', async () => {
    const { queue, serverId } = await queueWith((name) => [keyed(name, 'a', 1)]);
    const [first] = await claimAll(serverId, queue);
    if (first === undefined) throw new Error('The first job of a key was held back');
    const parent = await fixture.claimOne();
    const child = await fixture.enqueue(queue, {
      ...keyed(queue, 'a', 1),
      after: { parents: [parent.claim.jobId], when: 'onDone' },
    });
    await fixture.storage.completions.complete([
      { claim: parent.claim, outcome: { kind: 'done', result: 'null' } },
    ]);
    await resolved();
    expect((await fixture.storage.jobs.find(child.id))?.state).to.equal('enqueued');
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
    await fixture.storage.completions.complete([
      { claim: first.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
    ]);
    expect((await claimAll(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([child.id]);
  });

  it('never runs more jobs of a key at once than its limit, across many servers, and finishes all', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    const gates = new Map<string, OverlapGate>();
    let ended = 0;
    const handler = handleJob(work, async ({ job }) => {
      const key = (await fixture.storage.jobs.find(job.id))?.tags[0] ?? '';
      const gate = gates.get(key) ?? new OverlapGate(2);
      gates.set(key, gate);
      await gate.pass();
      ended++;
    });
    const servers = Array.from(
      { length: 3 },
      () =>
        new JobServer({
          storage: fixture.storage,
          handlers: [handler],
          queues: [queue],
          concurrency: 10,
          ...steadyServer,
        }),
    );
    await Promise.all(servers.map((server) => server.start()));
    try {
      await new JobClient(fixture.storage).enqueueMany(
        Array.from({ length: 200 }, (_, n) => {
          const key = `tenant-${n % 4}`;
          return { definition: work, args: {}, options: { tags: [key], concurrency: { key, limit: 2 } } };
        }),
      );
      await eventually(
        () => ended,
        (count) => count === 200,
      );
      expect([...gates.values()].map(({ most }) => most)).to.deep.equal([2, 2, 2, 2]);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
}
