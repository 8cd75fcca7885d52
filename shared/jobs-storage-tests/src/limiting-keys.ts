import { expect } from 'chai';
import { it } from 'mocha';
import type { ClaimedJob, NewJob } from '@longshore/jobs/storage';
import { resolveAll } from './dependent-job.js';
import { type Fixture, hourMs, newJob } from './storage-under-test.js';

/** Defines the tests of the operation that sets the limit of a concurrency key for its blocked jobs. */
export function limitingKeys(fixture: Fixture): void {
  const keyed = (queue: string, limit: number, key = 'a'): NewJob => ({
    ...newJob(queue),
    meta: { concurrencyKey: key, concurrencyLimit: limit },
  });

  async function queueWith(jobs: (queue: string) => NewJob[]): Promise<{ queue: string; serverId: string }> {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(jobs(queue));
    await resolveAll(fixture.storage);
    const { id } = await fixture.register(queue);
    return { queue, serverId: id };
  }

  const many = (queue: string, limit: number, key = 'a'): NewJob[] =>
    Array.from({ length: 5 }, () => keyed(queue, limit, key));

  async function claimAll(serverId: string, queue: string): Promise<ClaimedJob[]> {
    await resolveAll(fixture.storage);
    return fixture.claim(serverId, queue, 100);
  }

  async function end(jobs: readonly ClaimedJob[]): Promise<void> {
    await fixture.storage.completions.complete(
      jobs.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true })),
    );
  }

  it('starts blocked jobs up to the new limit', async () => {
    const { queue, serverId } = await queueWith((name) => many(name, 1));
    expect(await claimAll(serverId, queue)).to.have.length(1);
    expect(await fixture.storage.queues.limitKey(queue, 'a', 3)).to.deep.equal({ changed: 4, before: [1] });
    expect(await claimAll(serverId, queue)).to.have.length(2);
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
  });

  it('shows the new limit on the blocked jobs and on the key', async () => {
    const { queue } = await queueWith((name) => many(name, 1));
    await fixture.storage.queues.limitKey(queue, 'a', 3);
    await resolveAll(fixture.storage);
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10 });
    expect(jobs.map(({ concurrencyLimit }) => concurrencyLimit)).to.have.members([1, 3, 3, 3, 3]);
    const { keys } = await fixture.storage.queues.listBlockingKeys(queue);
    expect(keys.map(({ details }) => details?.limit)).to.deep.equal([3]);
  });

  it('leaves jobs that are enqueued later the limit that they are enqueued with', async () => {
    const { queue, serverId } = await queueWith((name) => many(name, 1));
    await fixture.storage.queues.limitKey(queue, 'a', 5);
    const running = await claimAll(serverId, queue);
    expect(running).to.have.length(5);
    const later = await fixture.enqueue(queue, keyed(queue, 1));
    await end(running.slice(1));
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
    await end(running.slice(0, 1));
    expect((await claimAll(serverId, queue)).map(({ claim }) => claim.jobId)).to.deep.equal([later.id]);
  });

  it('lowers a limit, which applies once fewer jobs of the key are ready or running', async () => {
    const { queue, serverId } = await queueWith((name) => many(name, 3));
    const running = await claimAll(serverId, queue);
    expect(await fixture.storage.queues.limitKey(queue, 'a', 1)).to.deep.equal({ changed: 2, before: [3] });
    await end(running.slice(1));
    expect(await claimAll(serverId, queue)).to.deep.equal([]);
    await end(running.slice(0, 1));
    expect(await claimAll(serverId, queue)).to.have.length(1);
  });

  it('keeps the rate of the key', async () => {
    const concurrencyRate = { jobs: 1, periodMs: hourMs, burst: 2 };
    const { queue, serverId } = await queueWith((name) =>
      many(name, 1).map((job) => ({ ...job, meta: { ...job.meta, concurrencyRate } })),
    );
    expect(await claimAll(serverId, queue)).to.have.length(1);
    await fixture.storage.queues.limitKey(queue, 'a', 5);
    const [next, ...others] = await claimAll(serverId, queue);
    expect(others).to.deep.equal([]);
    expect(next?.meta).to.deep.include({ concurrencyLimit: 5, concurrencyRate });
  });

  it('changes neither other keys nor the same key of other queues', async () => {
    const { queue, serverId } = await queueWith((name) => [...many(name, 1), ...many(name, 1, 'b')]);
    const other = await queueWith((name) => many(name, 1));
    await fixture.storage.queues.limitKey(queue, 'a', 5);
    const keys = (await claimAll(serverId, queue)).map(({ meta }) => meta?.concurrencyKey ?? 'none');
    expect(keys.toSorted()).to.deep.equal(['a', 'a', 'a', 'a', 'a', 'b']);
    expect(await claimAll(other.serverId, other.queue)).to.have.length(1);
  });

  it('returns the different limits of the jobs, and how many had another', async () => {
    const { queue } = await queueWith((name) => [
      keyed(name, 1),
      ...[4, 2, 4, 3].map((limit) => keyed(name, limit)),
    ]);
    const blocked = (await fixture.storage.jobs.list({ filter: { queue: [queue] }, limit: 10 }))
      .filter(({ readyAt }) => readyAt === null)
      .flatMap(({ concurrencyLimit }) => concurrencyLimit ?? []);
    const before = [...new Set(blocked)].toSorted((one, other) => one - other);
    const changed = blocked.filter((limit) => limit !== 1).length;
    expect(await fixture.storage.queues.limitKey(queue, 'a', 1)).to.deep.equal({ changed, before });
  });

  it('changes nothing if no job of the key is blocked, or there is no such queue', async () => {
    const { queue } = await queueWith((name) => [keyed(name, 1)]);
    const nothing = { changed: 0, before: [] };
    expect(await fixture.storage.queues.limitKey(queue, 'a', 3)).to.deep.equal(nothing);
    const unknown = fixture.newQueue();
    expect(await fixture.storage.queues.limitKey(unknown, 'a', 3)).to.deep.equal(nothing);
    expect(await fixture.storage.queues.find(unknown)).to.equal(null);
  });

  for (const [key, limit] of [
    ['', 1],
    ['a', 0],
    ['a', 10_001],
    ['a', 1.5],
  ] as const) {
    it(`refuses the key “${key}” with the limit ${limit}`, async () => {
      const error: unknown = await fixture.storage.queues
        .limitKey(fixture.newQueue(), key, limit)
        .catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(RangeError);
    });
  }
}
