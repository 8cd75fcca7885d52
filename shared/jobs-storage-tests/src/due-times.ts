import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import type { Claim, ClaimedJob, NewJob } from '@longshore/jobs/storage';
import { eventually } from '@longshore/test-support';
import { childOf, error, resolveAll } from './dependent-job.js';
import { steadyServer } from './serving-queue.js';
import { type Fixture, hourMs, moveJob } from './storage-under-test.js';

const keyed = { concurrencyKey: 'due', concurrencyLimit: 1 };

/** Defines the tests of `ClaimedJob.dueAt`: when the waiting time of an attempt begins, whatever delays the attempt. */
export function dueTimes(fixture: Fixture): void {
  const end = async (claim: Claim): Promise<void> => {
    await fixture.untilAfter(null);
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
    ]);
    await resolveAll(fixture.storage);
  };
  const claimedBy = async (serverId: string, queue: string): Promise<ClaimedJob> => {
    await resolveAll(fixture.storage);
    const [job] = await fixture.claimSome(serverId, queue, 1);
    return job;
  };
  /** Returns a queue with a running job that has the key, so that further jobs of the key are blocked. */
  const held = async (): Promise<{ queue: string; serverId: string; holder: Claim }> => {
    const queue = fixture.newQueue();
    const { id: serverId } = await fixture.register(queue);
    await fixture.enqueue(queue, { meta: keyed });
    return { queue, serverId, holder: (await claimedBy(serverId, queue)).claim };
  };
  const dueIn = async (ms: number): Promise<NewJob['due']> => ({
    at: new Date((await fixture.storage.readClock()).getTime() + ms),
  });

  it('is the time of creation of a job that runs as soon as possible', async () => {
    const queue = fixture.newQueue();
    const { id: serverId } = await fixture.register(queue);
    await fixture.enqueue(queue);
    const { createdAt, dueAt, readyAt } = await claimedBy(serverId, queue);
    expect([dueAt, readyAt]).to.deep.equal([createdAt, createdAt]);
  });

  it('is before the time at which its key lets a blocked job become ready', async () => {
    const { queue, serverId, holder } = await held();
    await fixture.enqueue(queue, { meta: keyed });
    await end(holder);
    const { createdAt, dueAt, readyAt } = await claimedBy(serverId, queue);
    expect(dueAt).to.deep.equal(createdAt);
    expect(readyAt.getTime()).to.be.above(dueAt.getTime());
  });

  it('is the scheduled time of a job, even if nobody made it ready then', async () => {
    const queue = fixture.newQueue();
    const { id: serverId } = await fixture.register(queue);
    const { id } = await fixture.enqueue(queue, { due: await dueIn(5) });
    const runAt = (await fixture.storage.jobs.find(id))?.runAt;
    await fixture.untilAfter(runAt);
    await fixture.untilPromoted(id);
    const { dueAt, readyAt } = await claimedBy(serverId, queue);
    expect(dueAt).to.deep.equal(runAt);
    expect(readyAt.getTime()).to.be.above(dueAt.getTime());
  });

  it('is the scheduled time of a job that was then blocked', async () => {
    const { queue, serverId, holder } = await held();
    const { id } = await fixture.enqueue(queue, { due: await dueIn(5), meta: keyed });
    const runAt = (await fixture.storage.jobs.find(id))?.runAt;
    await fixture.untilAfter(runAt);
    await fixture.untilPromoted(id);
    await end(holder);
    expect((await claimedBy(serverId, queue)).dueAt).to.deep.equal(runAt);
  });

  it('is the time of the retry', async () => {
    const { queue, serverId, holder: claim } = await held();
    await fixture.untilAfter(null);
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'retry', error, delayMs: 0 }, hasMeta: true },
    ]);
    await fixture.untilPromoted(claim.jobId);
    const { runAt } = (await fixture.storage.jobs.find(claim.jobId)) ?? {};
    const { createdAt, dueAt } = await claimedBy(serverId, queue);
    expect(dueAt).to.deep.equal(runAt);
    expect(dueAt.getTime()).to.be.above(createdAt.getTime());
  });

  it('is when the parents of a job have ended', async () => {
    const { queue, claim } = await fixture.claimOne();
    const child = await fixture.enqueue(queue, childOf([claim.jobId]));
    await end(claim);
    const { finishedAt } = (await fixture.storage.jobs.find(claim.jobId)) ?? {};
    const { claim: of, createdAt, dueAt, readyAt } = await claimedBy(claim.serverId, queue);
    expect(of.jobId).to.equal(child.id);
    expect(dueAt).to.deep.equal(readyAt);
    expect(dueAt.getTime()).to.be.at.least((finishedAt ?? new Date(Infinity)).getTime());
    expect(dueAt.getTime()).to.be.above(createdAt.getTime());
  });

  it('stays the same if an attempt is released before it has run', async () => {
    const { queue, serverId, holder } = await held();
    await fixture.enqueue(queue, { meta: keyed });
    await end(holder);
    const first = await claimedBy(serverId, queue);
    await fixture.untilAfter(null);
    await fixture.storage.claims.release([first.claim]);
    const { dueAt, readyAt } = await claimedBy(serverId, queue);
    expect([dueAt, readyAt]).to.deep.equal([first.dueAt, first.readyAt]);
  });

  it('is when the attempt before was found to be lost', async () => {
    const { queue, serverId, holder } = await held();
    await fixture.enqueue(queue, { meta: keyed });
    await end(holder);
    const lost = await claimedBy(serverId, queue);
    await fixture.untilAfter(null);
    await fixture.silence(serverId);
    await fixture.storage.maintenance.rescue();
    const { id: other } = await fixture.register(queue);
    const { claim, dueAt, readyAt } = await claimedBy(other, queue);
    expect(claim.jobId).to.equal(lost.claim.jobId);
    expect(dueAt).to.deep.equal(readyAt);
    expect(dueAt.getTime()).to.be.above(lost.readyAt.getTime());
  });

  it('is when an operator retried a failed job', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    const { finishedAt } = (await fixture.storage.jobs.find(claim.jobId)) ?? {};
    await fixture.untilAfter(finishedAt);
    await fixture.storage.control.retry(claim.jobId);
    const { dueAt, readyAt } = await claimedBy(claim.serverId, queue);
    expect(dueAt).to.deep.equal(readyAt);
    expect(dueAt.getTime()).to.be.above((finishedAt ?? new Date(Infinity)).getTime());
  });

  for (const meta of [undefined, { ...keyed, concurrencyKey: 'moved' }])
    it(`stays the same if ${meta === undefined ? 'a ready' : 'a blocked'} job moves to another queue`, async () => {
      const [queue, target] = [fixture.newQueue(), fixture.newQueue()];
      const { id: serverId } = await fixture.register(target);
      const { id } = await fixture.enqueue(queue, meta === undefined ? {} : { meta });
      await fixture.untilAfter(null);
      await moveJob(fixture.storage, id, target);
      const { createdAt, dueAt, readyAt } = await claimedBy(serverId, target);
      expect(dueAt).to.deep.equal(createdAt);
      expect(readyAt.getTime()).to.be.above(dueAt.getTime());
    });

  it('is where the waiting time begins that a server records; it was ready in the last part of it', async () => {
    const queue = fixture.newQueue();
    const { storage } = fixture;
    const definition = defineJob({ name: 'due.served', queue, concurrency: { key: () => 'one', limit: 1 } });
    await new JobClient(storage).enqueueMany([
      { definition, args: { n: 1 } },
      { definition, args: { n: 2 } },
    ]);
    const isBlocking = async (): Promise<boolean> =>
      (await storage.queues.listBlockingKeys(queue)).keys.length > 0;
    const server = new JobServer({
      storage,
      queues: [queue],
      handlers: [
        handleJob(definition, async () => {
          const from = await storage.readClock();
          if (await isBlocking())
            await eventually(
              () => storage.readClock(),
              (now) => now.getTime() > from.getTime() + 50,
            );
        }),
      ],
      ...steadyServer,
    });
    await server.start();
    const read = async (): Promise<readonly number[]> => {
      await storage.maintenance.maintain();
      const nowMs = storage.clock.now();
      const span = { from: new Date(nowMs - hourMs), until: new Date(nowMs + 1), bucketMs: hourMs };
      const buckets = await storage.timings.read({ ...span, queue });
      return [0, 1, 2].map((part) =>
        buckets.reduce(
          (sum, { timing: { waiting, ready } }) =>
            sum + ([waiting.total, waiting.sumMs, ready.sumMs][part] ?? 0),
          0,
        ),
      );
    };
    const [, waitedMs = 0, readyMs = 0] = await eventually(read, ([total]) => total === 2);
    await server.stop();
    expect(waitedMs - readyMs).to.be.at.least(50);
  });
}
