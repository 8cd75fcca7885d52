import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient } from '@longshore/jobs';
import type { ClaimedJob, NewJob, RateLimit } from '@longshore/jobs/storage';
import { resolveAll } from './dependent-job.js';
import { RecurringFixture } from './recurring-fixture.js';
import { whileServing } from './serving-queue.js';
import { type Fixture, hourMs, newJob } from './storage-under-test.js';

/** Defines the tests of the rates of concurrency keys. */
export function ratingKeys(fixture: Fixture): void {
  const rated = (queue: string, key: string, rate: RateLimit, limit = 10_000): NewJob => ({
    ...newJob(queue),
    meta: {
      concurrencyKey: key,
      concurrencyLimit: limit,
      concurrencyRate: { burst: rate.jobs, ...rate },
    },
  });

  const five = (queue: string, key: string, rate: RateLimit, limit?: number): NewJob[] =>
    Array.from({ length: 5 }, () => rated(queue, key, rate, limit));

  /** Wakes keys and resolves dependencies until nothing more becomes ready, then claims the ready jobs. */
  async function claimAll(serverId: string, queue: string): Promise<ClaimedJob[]> {
    await fixture.storage.maintenance.promoteDue(100);
    await resolveAll(fixture.storage);
    return fixture.claim(serverId, queue, 100);
  }

  async function complete(claimed: readonly ClaimedJob[], delayMs?: number): Promise<void> {
    const outcome =
      delayMs === undefined
        ? ({ kind: 'done', result: 'null' } as const)
        : ({ kind: 'retry', error: { name: 'Error', message: 'no', stack: null }, delayMs } as const);
    await fixture.storage.completions.complete(
      claimed.map(({ claim }) => ({ claim, outcome, hasMeta: true })),
    );
  }

  async function queueWith(jobs: (queue: string) => NewJob[]): Promise<{ queue: string; serverId: string }> {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(jobs(queue));
    const { id } = await fixture.register(queue);
    return { queue, serverId: id };
  }

  it('starts no more jobs of a key than its rate allows, however soon they end', async () => {
    const { queue, serverId } = await queueWith((name) => five(name, 'a', { jobs: 2, periodMs: hourMs }));
    const first = await claimAll(serverId, queue);
    await complete(first);
    expect([first.length, (await claimAll(serverId, queue)).length]).to.deep.equal([2, 0]);
  });

  it('gives each key its own rate, and none to jobs without a key', async () => {
    const { queue, serverId } = await queueWith((name) => [
      ...five(name, 'a', { jobs: 2, periodMs: hourMs }),
      ...five(name, 'b', { jobs: 1, periodMs: hourMs }),
      newJob(name),
    ]);
    const keys = (await claimAll(serverId, queue)).map(({ meta }) => meta?.concurrencyKey ?? 'none');
    expect(keys.toSorted()).to.deep.equal(['a', 'a', 'b', 'none']);
  });

  it('applies together with a limit', async () => {
    const { queue, serverId } = await queueWith((name) => five(name, 'a', { jobs: 2, periodMs: hourMs }, 1));
    const counts = [];
    for (let round = 0; round < 3; round++) {
      const claimed = await claimAll(serverId, queue);
      counts.push(claimed.length);
      await complete(claimed);
    }
    expect(counts).to.deep.equal([1, 1, 0]);
  });

  it('takes a token for each attempt', async () => {
    const { queue, serverId } = await queueWith((name) => [rated(name, 'a', { jobs: 2, periodMs: hourMs })]);
    const counts = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const claimed = await claimAll(serverId, queue);
      counts.push(claimed.length);
      await complete(claimed, 0);
    }
    expect(counts).to.deep.equal([1, 1, 0]);
  });

  it('lets no more than a burst of jobs wait for a server', async () => {
    const { queue, serverId } = await queueWith((name) =>
      five(name, 'a', { jobs: 1_000, periodMs: 1, burst: 2 }),
    );
    const before = await fixture.storage.readClock();
    await resolveAll(fixture.storage);
    await fixture.untilAfter(new Date(before.getTime() + 5));
    expect(await claimAll(serverId, queue)).to.have.length(2);
  });

  it('states when the next job of a key can start', async () => {
    await queueWith((name) => five(name, 'a', { jobs: 1, periodMs: 60_000 }));
    await resolveAll(fixture.storage);
    const { nextDueMs } = await fixture.storage.maintenance.promoteDue(100);
    expect(nextDueMs).to.be.within(0, 60_000);
  });

  it('starts the next jobs when there are tokens, in order, although nothing else happens to the key', async () => {
    const { queue, serverId } = await queueWith((name) =>
      five(name, 'a', { jobs: 1, periodMs: 5, burst: 1 }),
    );
    const expected = await fixture.storage.jobs.list({
      filter: { queue: [queue] },
      order: 'oldest',
      limit: 9,
    });
    const started: string[] = [];
    await eventually(
      async () => {
        for (const { claim } of await claimAll(serverId, queue)) started.push(claim.jobId);
        return started.length;
      },
      (count) => count === 5,
    );
    expect(started).to.deep.equal(expected.map(({ id }) => id));
  });

  it('keeps a server busy that only waits for tokens', async () => {
    const queue = fixture.newQueue();
    const call = defineJob({
      name: 'call',
      queue,
      concurrency: { key: 'partner', rate: { jobs: 1, periodMs: 5, burst: 1 } },
    });
    let calls = 0;
    await whileServing(fixture, queue, [handleJob(call, () => void calls++)], async () => {
      const requests = Array.from({ length: 5 }, () => ({ definition: call }));
      const [first] = await new JobClient(fixture.storage).enqueueMany(requests);
      await eventually(
        async () => calls,
        (count) => count === 5,
      );
      const job = await fixture.storage.jobs.find(first?.id ?? '');
      expect(job?.concurrencyRate).to.deep.equal({ jobs: 1, periodMs: 5, burst: 1 });
    });
  });

  it('is that of the jobs of a recurring job', async () => {
    const recurring = new RecurringFixture(fixture);
    const rate = { jobs: 1, periodMs: 1_000, burst: 1 };
    const { id } = await recurring.add({ concurrency: { key: 'partner', rate } });
    const { concurrency } = await recurring.find(id);
    expect(concurrency).to.deep.equal({ key: 'partner', limit: 10_000, rate });
  });
}
