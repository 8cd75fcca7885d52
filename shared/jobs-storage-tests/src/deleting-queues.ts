import { expect } from 'chai';
import { it } from 'mocha';
import type { NewJob } from '@longshore/jobs/storage';
import { childOf } from './dependent-job.js';
import { type Fixture, moveJob, yearMs } from './storage-under-test.js';

/**
 * Defines the tests of deleting queues. Only an unused queue can be deleted, and using a deleted queue creates it
 * again.
 */
export function deletingQueues(fixture: Fixture): void {
  const isListed = async (queue: string): Promise<boolean> =>
    (await fixture.storage.queues.list()).some(({ name }) => name === queue);

  /** Creates a queue with one job, cancels the job and deletes the queue. */
  async function deletedQueue(): Promise<{ queue: string; job: NewJob }> {
    const queue = fixture.newQueue();
    const job = await fixture.enqueue(queue);
    await fixture.storage.control.cancel(job.id);
    expect(await fixture.storage.queues.delete(queue)).to.equal('deleted');
    return { queue, job };
  }

  it('deletes a queue without unfinished jobs: it is neither found nor listed', async () => {
    const { queue } = await deletedQueue();
    expect(await fixture.storage.queues.find(queue)).to.equal(null);
    expect(await isListed(queue)).to.equal(false);
  });

  it('keeps the finished jobs of a deleted queue under its name', async () => {
    const { queue, job } = await deletedQueue();
    expect((await fixture.jobsOf(queue)).map(({ id }) => id)).to.deep.equal([job.id]);
    expect(await fixture.storage.jobs.find(job.id)).to.include({ queue, state: 'cancelled' });
    expect(await fixture.storage.jobs.count({ queue: [queue] })).to.include({ count: 1 });
  });

  it('returns unknown for a queue that never existed or is already deleted', async () => {
    const { queue } = await deletedQueue();
    expect(await fixture.storage.queues.delete(queue)).to.equal('unknown');
    expect(await fixture.storage.queues.delete(fixture.newQueue())).to.equal('unknown');
  });

  const holding: Readonly<Record<string, (queue: string) => Promise<unknown>>> = {
    enqueued: (queue) => fixture.enqueue(queue),
    scheduled: (queue) => fixture.enqueue(queue, { due: { inMs: yearMs } }),
    awaiting: async (queue) =>
      fixture.enqueue(queue, childOf([(await fixture.enqueue(fixture.newQueue())).id])),
    'held back': async (queue) => {
      const meta = { concurrencyKey: 'a', concurrencyLimit: 1 };
      const first = await fixture.enqueue(queue, { meta });
      await fixture.enqueue(queue, { meta });
      await fixture.storage.control.cancel(first.id);
    },
  };
  for (const [state, make] of Object.entries(holding)) {
    it(`does not delete a queue with a job that is ${state}`, async () => {
      const queue = fixture.newQueue();
      await make(queue);
      expect(await fixture.storage.queues.delete(queue)).to.equal('holds-jobs');
      expect(await isListed(queue)).to.equal(true);
    });
  }

  it('does not delete a queue with a running job', async () => {
    const { queue } = await fixture.claimOne();
    expect(await fixture.storage.queues.delete(queue)).to.equal('holds-jobs');
  });

  it('does not delete a queue until its last consumer is gone', async () => {
    const queue = fixture.newQueue();
    const server = await fixture.register(queue);
    expect(await fixture.storage.queues.delete(queue)).to.equal('served');
    await server.unregister();
    expect(await fixture.storage.queues.delete(queue)).to.equal('deleted');
  });

  it('does not delete a queue whose settings differ from those seen', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 2 });
    const seen = (await fixture.storage.queues.find(queue)) ?? undefined;
    await fixture.storage.queues.limit(queue, { concurrencyLimit: 3 });
    expect(await fixture.storage.queues.delete(queue, { seen })).to.equal('changed');
    const now = (await fixture.storage.queues.find(queue)) ?? undefined;
    expect(await fixture.storage.queues.delete(queue, { seen: now })).to.equal('deleted');
  });

  const returning: Readonly<Record<string, (queue: string, job: NewJob) => Promise<unknown>>> = {
    'a job': (queue) => fixture.enqueue(queue),
    'a job for later': (queue) => fixture.enqueue(queue, { due: { inMs: yearMs } }),
    'a job that was sent back': (_queue, { id }) => fixture.storage.control.retry(id),
    'a job that was moved there': async (queue) =>
      moveJob(fixture.storage, (await fixture.enqueue(fixture.newQueue())).id, queue),
    'a server': (queue) => fixture.register(queue),
    'being paused': (queue) => fixture.storage.queues.pause(queue),
    'being resumed': (queue) => fixture.storage.queues.resume(queue),
    'a limit': (queue) => fixture.storage.queues.limit(queue, { concurrencyLimit: 1 }),
  };
  for (const [how, bringBack] of Object.entries(returning)) {
    it(`creates a deleted queue again with ${how}`, async () => {
      const { queue, job } = await deletedQueue();
      await bringBack(queue, job);
      expect(await fixture.storage.queues.find(queue)).to.include({ name: queue });
      expect(await isListed(queue)).to.equal(true);
    });
  }

  it('creates a deleted queue again without its old settings', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.queues.pause(queue);
    await fixture.storage.queues.limit(queue, {
      concurrencyLimit: 1,
      rateLimit: { jobs: 1, periodMs: 1_000 },
    });
    await fixture.storage.queues.delete(queue);
    await fixture.enqueue(queue);
    expect(await fixture.storage.queues.find(queue)).to.include({
      pausedAt: null,
      concurrencyLimit: null,
      rateLimit: null,
    });
  });

  it('includes earlier finished jobs in the counts of a queue created again', async () => {
    const { queue } = await deletedQueue();
    await fixture.enqueue(queue);
    expect((await fixture.storage.queues.find(queue))?.counts).to.include({ cancelled: 1, enqueued: 1 });
  });

  it('makes a scheduled job of a deleted queue ready, and lets servers claim it', async () => {
    const { queue } = await deletedQueue();
    const { id } = await fixture.enqueue(queue, { due: { inMs: 1 } });
    await fixture.untilPromoted(id);
    const server = await fixture.register(queue);
    const claimed = await fixture.claim(server.id, queue);
    expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal([id]);
  });

  it('lists every queue that gets jobs while it is being deleted', async () => {
    for (let round = 0; round < 20; round++) {
      const { queue } = await deletedQueue();
      const jobs = await Promise.all([
        fixture.enqueue(queue),
        fixture.storage.queues.delete(queue),
        fixture.enqueue(queue),
        fixture.storage.queues.delete(queue),
      ]);
      expect(jobs).to.have.length(4);
      expect((await fixture.storage.queues.find(queue))?.counts).to.include({ enqueued: 2 });
      expect(await fixture.storage.queues.delete(queue)).to.equal('holds-jobs');
    }
  });
}
