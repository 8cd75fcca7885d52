import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, handleJob, JobClient, SnoozeJob } from '@longshore/jobs';
import { bounds, type NewJob, timeBounds } from '@longshore/jobs/storage';
import { jobInState, whileServing } from './serving-queue.js';
import { type Fixture, newJob } from './storage-under-test.js';

/** Defines the tests of out-of-bounds values, which are rejected or clamped, and of unreadable errors. */
export function settingAside(fixture: Fixture): void {
  const refused: [string, Partial<NewJob>][] = [
    ['a delay beyond ten years', { due: { inMs: bounds.delayMs.max + 1 } }],
    ['a delay without end', { due: { inMs: Infinity } }],
    ['a delay that is no number', { due: { inMs: Number.NaN } }],
    ['a time after 9999', { due: { at: new Date(timeBounds.max + 1) } }],
    ['a time before 1970', { due: { at: new Date(-1) } }],
    ['a time that is none', { due: { at: new Date(Number.NaN) } }],
    ['a priority above 100', { priority: 101 }],
    ['a priority below -100', { priority: -101 }],
    ['no attempts', { maxAttempts: 0 }],
  ];
  for (const [what, job] of refused) {
    it(`rejects ${what}, alone, among others and in batches`, async () => {
      const queue = fixture.newQueue();
      const bad = { ...newJob(queue), ...job };
      const { storage } = fixture;
      const calls = [
        storage.enqueuer.enqueue([bad]),
        storage.enqueuer.enqueue([newJob(queue), bad]),
        storage.enqueuer.enqueueBatch({ id: newJob(queue).id, name: null, jobs: [bad], callback: null }),
      ];
      for (const call of calls)
        expect(await call.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
      expect(await fixture.jobsOf(queue)).to.deep.equal([]);
    });
  }

  it('accepts values at the bounds', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { due: { inMs: bounds.delayMs.max }, priority: 100 });
    await fixture.enqueue(queue, { due: { at: new Date(timeBounds.max) }, priority: -100 });
    const jobs = await fixture.jobsOf(queue);
    expect(jobs.map(({ runAt }) => runAt?.getTime())).to.include(timeBounds.max);
  });

  it('rejects a new time that is out of bounds, and does not change the job', async () => {
    const queue = fixture.newQueue();
    const at = new Date('2100-01-01T00:00:00Z');
    const { id } = await fixture.enqueue(queue, { due: { at } });
    for (const time of [new Date(timeBounds.max + 1), new Date(-1), new Date(Number.NaN)]) {
      const error: unknown = await fixture.storage.control
        .reschedule(id, time)
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(RangeError);
      const edit = { queue, priority: 0, args: '{}', runAt: time };
      const edited: unknown = await fixture.storage.control
        .edit([id], async () => new Map([[id, edit]]))
        .catch((thrown: unknown) => thrown);
      expect(edited).to.be.instanceOf(RangeError);
    }
    expect((await fixture.storage.jobs.find(id))?.runAt).to.deep.equal(at);
  });

  it('rejects an invalid priority for an existing job', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    const edit = { queue, priority: 5_000, args: '{}', runAt: null };
    const error: unknown = await fixture.storage.control
      .edit([id], async () => new Map([[id, edit]]))
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(RangeError);
  });

  it('delays a job by at most ten years, whatever its handler requests', async () => {
    const { claim } = await fixture.claimOne();
    const { claim: other } = await fixture.claimOne();
    const from = (await fixture.storage.readClock()).getTime();
    await fixture.storage.completions.complete([
      { claim, outcome: { kind: 'snooze', delayMs: 1e300 } },
      { claim: other, outcome: { kind: 'snooze', delayMs: Number.NaN } },
    ]);
    const until = (await fixture.storage.readClock()).getTime();
    for (const { jobId } of [claim, other]) {
      const runAt = (await fixture.storage.jobs.find(jobId))?.runAt?.getTime() ?? 0;
      expect(runAt - bounds.delayMs.max).to.be.within(from, until);
    }
  });

  it('keeps running after a handler throws something unreadable, and fails that job', async () => {
    const queue = fixture.newQueue();
    const odd = defineJob({ name: 'odd', queue, maxAttempts: 1 });
    const client = new JobClient(fixture.storage);
    const thrown: (() => unknown)[] = [
      () => Object.assign(new Error(), { message: Object.create(null) as unknown }),
      () => Object.assign(new SnoozeJob(1), { delayMs: 1e300 }),
      () => new SnoozeJob(1e300),
      () => Object.create(null) as unknown,
      () => {
        const { proxy, revoke } = Proxy.revocable(new Error(), {});
        revoke();
        return proxy;
      },
    ];
    let place = 0;
    const handler = handleJob(odd, () => {
      throw thrown[place]?.();
    });
    await whileServing(fixture, queue, [handler], async () => {
      for (; place < thrown.length; place++) {
        const { id } = await client.enqueue(odd, {});
        const { error } = await jobInState(fixture, id, 'failed');
        expect(error?.name).to.match(/./);
      }
    });
  });
}
