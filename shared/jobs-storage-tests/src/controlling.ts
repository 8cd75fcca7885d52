import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError, JobState } from '@longshore/jobs';
import { type Claim, type JobControl, newId, notPaused } from '@longshore/jobs/storage';
import { childOf } from './dependent-job.js';
import { type Fixture, yearMs } from './storage-under-test.js';

type Verb = 'cancel' | 'retry' | 'run' | 'delete';

/**
 * The effect of each action on a job in each state: the new state, `same` (no change), `illegal` (the action is
 * rejected) or `gone` (the job is deleted).
 */
const effects: Record<Verb, Record<JobState, JobState | 'same' | 'illegal' | 'gone'>> = {
  cancel: {
    scheduled: 'cancelled',
    awaiting: 'cancelled',
    enqueued: 'cancelled',
    processing: 'processing',
    done: 'illegal',
    failed: 'illegal',
    cancelled: 'same',
  },
  retry: {
    scheduled: 'illegal',
    awaiting: 'illegal',
    enqueued: 'same',
    processing: 'same',
    done: 'illegal',
    failed: 'enqueued',
    cancelled: 'enqueued',
  },
  run: {
    scheduled: 'enqueued',
    awaiting: 'enqueued',
    enqueued: 'same',
    processing: 'same',
    done: 'illegal',
    failed: 'illegal',
    cancelled: 'illegal',
  },
  delete: {
    scheduled: 'illegal',
    awaiting: 'illegal',
    enqueued: 'illegal',
    processing: 'illegal',
    done: 'gone',
    failed: 'gone',
    cancelled: 'gone',
  },
};

export function controlling(fixture: Fixture): void {
  const error: JobError = { name: 'Error', message: 'no', stack: null };

  /** Creates a job, brings it into this state, and resolves to its id. */
  async function jobIn(state: JobState): Promise<string> {
    if (state === 'scheduled')
      return (await fixture.enqueue(fixture.newQueue(), { due: { inMs: yearMs } })).id;
    if (state === 'awaiting') {
      const parent = await fixture.enqueue(fixture.newQueue());
      return (await fixture.enqueue(fixture.newQueue(), childOf([parent.id]))).id;
    }
    if (state === 'enqueued') return (await fixture.enqueue(fixture.newQueue())).id;
    const { claim } = await fixture.claimOne({ maxAttempts: 1 });
    const { storage } = fixture;
    if (state === 'done')
      await storage.completions.complete([{ claim, outcome: { kind: 'done', result: '1' } }]);
    if (state === 'failed')
      await storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    if (state === 'cancelled')
      await storage.completions.complete([{ claim, outcome: { kind: 'cancelled', error } }]);
    return claim.jobId;
  }

  for (const [verb, byState] of Object.entries(effects)) {
    for (const [state, effect] of Object.entries(byState)) {
      it(`${verb} on a job in ${state}: ${effect}`, async () => {
        const id = await jobIn(state as JobState);
        const result = await fixture.storage.control[verb as Verb](id);
        const after = await fixture.storage.jobs.find(id);
        if (effect === 'illegal') expect(result).to.include({ outcome: 'illegal' });
        else expect(result).to.include({ outcome: 'ok', changed: effect !== 'same' });
        if (effect === 'gone') expect(after).to.equal(null);
        else expect(after?.state).to.equal(effect === 'illegal' || effect === 'same' ? state : effect);
      });
    }
  }

  for (const verb of ['cancel', 'retry', 'run', 'delete'] satisfies (keyof JobControl)[]) {
    it(`${verb} on an unknown job returns unknown`, async () => {
      expect(await fixture.storage.control[verb](newId())).to.deep.equal({ outcome: 'unknown' });
    });
  }

  for (const state of ['scheduled', 'enqueued', 'processing', 'failed', 'cancelled'] satisfies JobState[]) {
    it(`changes nothing for a job that is ${state} if the check throws`, async () => {
      const id = await jobIn(state);
      const before = await fixture.storage.jobs.find(id);
      const seen: unknown[] = [];
      const check = (job: unknown): void => {
        seen.push(job);
        throw new RangeError('refused');
      };
      for (const verb of ['cancel', 'retry', 'run', 'delete'] satisfies (keyof JobControl)[]) {
        const error: unknown = await fixture.storage.control[verb](id, { check }).catch(
          (reason: unknown) => reason,
        );
        expect(error, verb).to.be.instanceOf(RangeError);
      }
      expect(seen).to.deep.equal([before, before, before, before]);
      expect(await fixture.storage.jobs.find(id)).to.deep.equal(before);
    });
  }

  it('creates a queue with its limits, once', async () => {
    const { queues } = fixture.storage;
    const queue = fixture.newQueue();
    const limits = { concurrencyLimit: 2, rateLimit: { jobs: 5, periodMs: 1_000 } };
    const creations = await Promise.all([queues.create(queue, limits), queues.create(queue, limits)]);
    expect(creations.toSorted()).to.deep.equal(['created', 'exists']);
    expect(await queues.find(queue)).to.deep.include({
      name: queue,
      concurrencyLimit: 2,
      rateLimit: { jobs: 5, periodMs: 1_000, burst: 5 },
      pausedAt: null,
    });
    expect(await queues.create(queue, { concurrencyLimit: 7 })).to.equal('exists');
    expect(await queues.find(queue)).to.include({ concurrencyLimit: 2 });
  });

  it('limits the first jobs of a queue that was created with a limit', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.queues.create(queue, { concurrencyLimit: 1 });
    await fixture.enqueue(queue);
    await fixture.enqueue(queue);
    const { id } = await fixture.register(queue);
    expect(await fixture.claim(id, queue)).to.have.length(1);
  });

  it('creates a queue anew that was deleted, without its former limits', async () => {
    const { queues } = fixture.storage;
    const queue = fixture.newQueue();
    await queues.create(queue, { concurrencyLimit: 2 });
    expect(await queues.delete(queue)).to.equal('deleted');
    expect(await queues.create(queue)).to.equal('created');
    expect(await queues.find(queue)).to.include({ concurrencyLimit: null, rateLimit: null });
  });

  it('creates no queue with a name or a limit that is out of bounds', async () => {
    const { queues } = fixture.storage;
    const queue = fixture.newQueue();
    for (const create of [
      () => queues.create('no name'),
      () => queues.create(queue, { concurrencyLimit: 0 }),
    ])
      expect(await create().catch((thrown: unknown) => thrown)).to.be.instanceOf(RangeError);
    expect(await queues.find(queue)).to.equal(null);
  });

  it('changes nothing of a queue whose settings differ from those seen', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue);
    const found = async () => (await fixture.storage.queues.find(queue)) ?? expect.fail('The queue is gone');
    const seen = await found();
    const settings = { ...notPaused, concurrencyLimit: null, rateLimit: null };
    const { queues } = fixture.storage;
    expect(await queues.limit(queue, { concurrencyLimit: 2 }, { seen })).to.deep.equal(settings);
    expect(await queues.limit(queue, { concurrencyLimit: 3 }, { seen })).to.equal(null);
    expect(await queues.pause(queue, { seen })).to.equal(null);
    expect(await found()).to.include({ concurrencyLimit: 2, pausedAt: null });
    expect(await queues.pause(queue, { seen: await found() })).to.deep.equal({
      ...settings,
      concurrencyLimit: 2,
    });
    expect(await queues.resume(queue, { seen })).to.equal(null);
    expect(await queues.resume(queue, { seen: await found() })).to.include({ concurrencyLimit: 2 });
  });

  it('gives a retried job one more attempt, and keeps its earlier ones', async () => {
    const id = await jobIn('failed');
    await fixture.storage.control.retry(id);
    expect(await fixture.storage.jobs.find(id)).to.include({ state: 'enqueued', attempt: 1, maxAttempts: 2 });
    expect((await fixture.storage.jobs.listAttempts(id)).map(({ outcome }) => outcome)).to.deep.equal([
      'failed',
    ]);
  });

  it('reschedules a scheduled job', async () => {
    const id = await jobIn('scheduled');
    const runAt = new Date((await fixture.storage.readClock()).getTime() + yearMs);
    await fixture.storage.control.reschedule(id, runAt);
    expect((await fixture.storage.jobs.find(id))?.runAt?.getTime()).to.equal(runAt.getTime());
  });

  it('does not reschedule a job if the check throws', async () => {
    const id = await jobIn('scheduled');
    const before = await fixture.storage.jobs.find(id);
    const check = (): void => {
      throw new RangeError('refused');
    };
    const error: unknown = await fixture.storage.control
      .reschedule(id, new Date(0), { check })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RangeError);
    expect(await fixture.storage.jobs.find(id)).to.deep.equal(before);
  });

  it('returns the claims of running jobs that have been cancelled', async () => {
    const { claim } = await fixture.claimOne();
    const { claim: other } = await fixture.claimOne();
    await fixture.storage.control.cancel(claim.jobId);
    expect(await fixture.storage.control.cancellations([claim, other])).to.deep.equal([claim]);
  });

  it('has the same effect when a job is cancelled twice', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.control.cancel(claim.jobId);
    expect(await fixture.storage.control.cancel(claim.jobId)).to.include({ outcome: 'ok', changed: false });
  });

  it('shows a request to cancel a running job, with its first reason, until the job has ended', async () => {
    const { jobs, control, completions } = fixture.storage;
    const { queue, claim } = await fixture.claimOne();
    const requests = async (): Promise<unknown[]> => {
      const filter = { queue: [queue] };
      const found = [
        await jobs.find(claim.jobId),
        ...(await jobs.findMany([claim.jobId])),
        ...(await jobs.list({ filter, limit: 2 })),
        ...(await jobs.listPage({ filter, limit: 2, maxBytes: 1_000 })).jobs,
        ...(await jobs.listBrief({ filter, limit: 2 })).jobs,
      ];
      expect(found).to.have.length(5);
      return [
        ...new Set(found.map((job) => `${typeof job?.cancelRequestedAt?.getTime()} ${job?.cancelReason}`)),
      ];
    };
    expect(await requests()).to.deep.equal(['undefined null']);
    expect(await control.cancel(claim.jobId, { reason: 'wrong address' })).to.deep.nested.include({
      'job.state': 'processing',
      'job.cancelReason': 'wrong address',
    });
    await control.cancel(claim.jobId, { reason: 'again' });
    expect(await requests()).to.deep.equal(['number wrong address']);
    await completions.complete([{ claim, outcome: { kind: 'cancelled', error } }]);
    expect(await requests()).to.deep.equal(['undefined null']);
  });

  it('keeps 500 characters of the reason for a cancellation, and no empty one', async () => {
    const reasons = ['', 'x'.repeat(10_000)];
    const kept: (string | null | undefined)[] = [];
    for (const reason of reasons) {
      const { queue, claim } = await fixture.claimOne();
      const request = { action: 'cancel', filter: { queue: [queue] }, reason } as const;
      await fixture.storage.bulk.start(request);
      while (await fixture.storage.bulk.advance());
      kept.push((await fixture.storage.jobs.find(claim.jobId))?.cancelReason);
    }
    expect(kept[0]).to.equal(null);
    expect(kept[1]).to.have.length(500);
  });

  it('shows no request to cancel a job that has not started, because it is cancelled at once', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue());
    const { control } = fixture.storage;
    expect(await control.cancel(id, { reason: 'wrong address' })).to.deep.nested.include({
      'job.state': 'cancelled',
      'job.cancelRequestedAt': null,
      'job.cancelReason': null,
    });
  });

  it('does not run a cancelled job again after its server died', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.control.cancel(claim.jobId);
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('cancelled');
  });

  const waysBack: Readonly<Record<string, (claim: Claim) => Promise<unknown>>> = {
    'is retried at once': (claim) =>
      fixture.storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 0 } }]),
    'is retried later': (claim) =>
      fixture.storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: yearMs } }]),
    'is snoozed': (claim) =>
      fixture.storage.completions.complete([{ claim, outcome: { kind: 'snooze', delayMs: 0 } }]),
    'fails for good': (claim) =>
      fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]),
    'is released': (claim) => fixture.storage.claims.release([claim]),
  };
  for (const [way, goBack] of Object.entries(waysBack)) {
    it(`ends as cancelled, and does not start again, if a running job that was cancelled ${way}`, async () => {
      const { queue, claim } = await fixture.claimOne({ maxAttempts: 5 });
      expect(await fixture.storage.control.cancel(claim.jobId)).to.include({ outcome: 'ok', changed: true });
      await goBack(claim);
      await fixture.storage.maintenance.promoteDue(100);
      expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('cancelled');
      expect(await fixture.claim(claim.serverId, queue)).to.deep.equal([]);
    });
  }

  it('never lets a server claim a cancelled job', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.storage.control.cancel(id);
    const server = await fixture.register(queue);
    expect(await fixture.claim(server.id, queue)).to.deep.equal([]);
  });

  it('shows when a queue was paused, until it is resumed', async () => {
    const queue = fixture.newQueue();
    const pausedAt = async (): Promise<Date | null | undefined> =>
      (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.pausedAt;
    await fixture.storage.queues.pause(queue);
    expect(await pausedAt()).to.be.a('date');
    await fixture.storage.queues.resume(queue);
    expect(await pausedAt()).to.equal(null);
  });

  it('keeps counts correct through every step', async () => {
    const queue = fixture.newQueue();
    const counts = async () =>
      (await fixture.storage.queues.list()).find(({ name }) => name === queue)?.counts;
    const first = await fixture.enqueue(queue);
    const second = await fixture.enqueue(queue, { due: { inMs: yearMs } });
    await fixture.storage.control.cancel(first.id);
    await fixture.storage.control.run(second.id);
    expect(await counts()).to.include({ cancelled: 1, enqueued: 1, scheduled: 0 });
    await fixture.storage.control.retry(first.id);
    await fixture.storage.control.cancel(second.id);
    await fixture.storage.control.delete(second.id);
    expect(await counts()).to.include({ cancelled: 0, enqueued: 1, scheduled: 0 });
  });
}
