import { eventually, overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, type JobError, JobServer } from '@longshore/jobs';
import type { Outcome, Queue, QueueLimits } from '@longshore/jobs/storage';
import { steadyServer } from './serving-queue.js';
import { OverlapGate } from './overlap-gate.js';
import { type Fixture, hourMs, newJob, yearMs } from './storage-under-test.js';

const error: JobError = { name: 'Error', message: 'no', stack: null };

/**
 * Defines tests of limits per queue. A limit must apply to all servers of the queue together, even if they claim
 * concurrently.
 */
export function limiting(fixture: Fixture): void {
  /** Creates a queue with these limits, `jobs` ready jobs and a server. */
  async function limited(limits: QueueLimits, jobs: number): Promise<{ queue: string; serverId: string }> {
    const queue = fixture.newQueue();
    await fixture.storage.queues.limit(queue, limits);
    await fixture.storage.enqueuer.enqueue(Array.from({ length: jobs }, () => newJob(queue)));
    const { id } = await fixture.register(queue);
    return { queue, serverId: id };
  }

  async function limitsOf(queue: string): Promise<Partial<Queue>> {
    const found = (await fixture.storage.queues.list()).find(({ name }) => name === queue);
    return { concurrencyLimit: found?.concurrencyLimit ?? null, rateLimit: found?.rateLimit ?? null };
  }

  it('shows the limits of a queue', async () => {
    const { queue } = await limited({ concurrencyLimit: 7, rateLimit: { jobs: 5, periodMs: 100 } }, 0);
    expect(await limitsOf(queue)).to.deep.equal({
      concurrencyLimit: 7,
      rateLimit: { jobs: 5, periodMs: 100, burst: 5 },
    });
  });

  it('changes one limit and keeps the other', async () => {
    const { queue } = await limited({ concurrencyLimit: 7, rateLimit: { jobs: 5, periodMs: 100 } }, 0);
    await fixture.storage.queues.limit(queue, { rateLimit: null });
    expect(await limitsOf(queue)).to.deep.equal({ concurrencyLimit: 7, rateLimit: null });
  });

  for (const limits of [
    { concurrencyLimit: 0 },
    { concurrencyLimit: 1.5 },
    { rateLimit: { jobs: 0, periodMs: 100 } },
    { rateLimit: { jobs: 1, periodMs: Number.NaN } },
    { rateLimit: { jobs: 1, periodMs: 1, burst: 0 } },
  ] satisfies QueueLimits[]) {
    it(`rejects ${JSON.stringify(limits)}`, async () => {
      const refused = await Promise.resolve()
        .then(() => fixture.storage.queues.limit(fixture.newQueue(), limits))
        .catch((reason: unknown) => reason);
      expect(refused).to.be.instanceOf(RangeError);
    });
  }

  it('runs no more jobs at once than the concurrency limit', async () => {
    const { queue, serverId } = await limited({ concurrencyLimit: 3 }, 10);
    const first = await fixture.claim(serverId, queue, 2);
    const second = await fixture.claim(serverId, queue, 10);
    const third = await fixture.claim(serverId, queue, 10);
    expect([first.length, second.length, third.length]).to.deep.equal([2, 1, 0]);
  });

  const outcomes: readonly Outcome[] = [
    { kind: 'done', result: 'null' },
    { kind: 'failed', error },
    { kind: 'cancelled', error },
    { kind: 'retry', error, delayMs: yearMs },
    { kind: 'snooze', delayMs: yearMs },
  ];
  for (const outcome of outcomes) {
    it(`frees a slot after the outcome ${outcome.kind}`, async () => {
      const { queue, serverId } = await limited({ concurrencyLimit: 1 }, 3);
      const [claimed] = await fixture.claim(serverId, queue);
      if (claimed !== undefined)
        await fixture.storage.completions.complete([{ claim: claimed.claim, outcome }]);
      expect(await fixture.claim(serverId, queue)).to.have.length(1);
    });
  }

  it('frees a slot after a job was released, and after its server died', async () => {
    const { queue, serverId } = await limited({ concurrencyLimit: 1 }, 3);
    const [claimed] = await fixture.claim(serverId, queue);
    if (claimed !== undefined) await fixture.storage.claims.release([claimed.claim]);
    expect(await fixture.claim(serverId, queue)).to.have.length(1);
    await fixture.silence(serverId);
    await fixture.storage.maintenance.rescue();
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue)).to.have.length(1);
  });

  it('returns nothing from a paused queue with limits', async () => {
    const { queue, serverId } = await limited({ concurrencyLimit: 3 }, 3);
    await fixture.claim(serverId, queue, 1);
    await fixture.storage.queues.pause(queue);
    expect(await fixture.claim(serverId, queue)).to.deep.equal([]);
  });

  it('returns all jobs again when the limits are removed', async () => {
    const { queue, serverId } = await limited(
      { concurrencyLimit: 1, rateLimit: { jobs: 1, periodMs: hourMs } },
      10,
    );
    await fixture.claim(serverId, queue);
    await fixture.storage.queues.limit(queue, { concurrencyLimit: null, rateLimit: null });
    expect(await fixture.claim(serverId, queue)).to.have.length(9);
  });

  it('limits a queue from which many jobs have been claimed before', async () => {
    const { queue, serverId } = await limited({}, 10);
    await fixture.claim(serverId, queue, 2);
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 3 });
    const counts = [await fixture.claim(serverId, queue), await fixture.claim(serverId, queue)].map(
      ({ length }) => length,
    );
    expect(counts).to.deep.equal([1, 0]);
  });

  it('returns a burst, then one job per new token', async () => {
    const { queue, serverId } = await limited({ rateLimit: { jobs: 10, periodMs: 1_000, burst: 4 } }, 20);
    const from = await fixture.storage.readClock();
    const burst = await fixture.claim(serverId, queue, 20);
    expect(burst).to.have.length(4);
    let claimed = burst.length;
    while (claimed < 7) {
      const next = await eventually(
        () => fixture.claim(serverId, queue, 20),
        (jobs) => jobs.length > 0,
      );
      claimed += next.length;
      const tookMs = (await fixture.storage.readClock()).getTime() - from.getTime() + 1;
      expect(claimed).to.be.at.most(4 + tookMs / 100);
    }
  });

  it('takes a token for a retried job, too', async () => {
    const { queue, serverId } = await limited({ rateLimit: { jobs: 1, periodMs: hourMs, burst: 2 } }, 1);
    for (let round = 0; round < 2; round++) {
      const [claimed] = await fixture.claim(serverId, queue);
      if (claimed !== undefined) await fixture.storage.claims.release([claimed.claim]);
    }
    expect(await fixture.claim(serverId, queue)).to.deep.equal([]);
  });

  it('takes no token when there is no job', async () => {
    const { queue, serverId } = await limited({ rateLimit: { jobs: 1, periodMs: hourMs } }, 0);
    await fixture.claim(serverId, queue);
    await fixture.enqueue(queue);
    expect(await fixture.claim(serverId, queue)).to.have.length(1);
  });

  it('never runs more jobs at once than the limit, across many servers, and finishes all', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 3 });
    const gate = new OverlapGate(3);
    let ended = 0;
    const handler = handleJob(work, async () => {
      await gate.pass();
      ended++;
    });
    const servers = Array.from(
      { length: 4 },
      () =>
        new JobServer({
          storage: fixture.storage,
          handlers: [handler],
          queues: [queue],
          concurrency: 5,
          ...steadyServer,
        }),
    );
    await Promise.all(servers.map((server) => server.start()));
    try {
      await new JobClient(fixture.storage).enqueueMany(
        Array.from({ length: 200 }, () => ({ definition: work, args: {} })),
      );
      await eventually(
        () => ended,
        (count) => count === 200,
      );
      expect(gate.most).to.equal(3);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });

  it('notifies servers when the next token arrives, so that the next job starts without a poll', async () => {
    const queue = fixture.newQueue();
    const work = defineJob({ name: 'work', queue });
    await fixture.storage.queues.limit(queue, { rateLimit: { jobs: 1, periodMs: 20 } });
    let started = 0;
    const server = new JobServer({
      storage: overriding(fixture.storage, { claims: { findReady: async () => [] } }), // polls find nothing
      handlers: [handleJob(work, () => void started++)],
      queues: [queue],
      concurrency: 5,
      ...steadyServer,
    });
    await server.start();
    try {
      const from = await fixture.storage.readClock();
      await new JobClient(fixture.storage).enqueueMany(
        Array.from({ length: 31 }, () => ({ definition: work, args: {} })),
      );
      await eventually(
        () => started,
        (count) => count === 31,
      );
      const until = await fixture.storage.readClock();
      expect(until.getTime() - from.getTime() + 1).to.be.at.least(30 * 20);
    } finally {
      await server.stop();
    }
  });
}
