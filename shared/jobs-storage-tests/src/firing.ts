import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import Type from 'typebox';
import { defineJob, defineRecurringJob, type RecurringJob } from '@longshore/jobs';
import type { SkippedDueTimes } from '@longshore/jobs/storage';
import { minuteMs, RecurringFixture } from './recurring-fixture.js';
import type { Fixture } from './storage-under-test.js';

export function firing(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  it('enqueues a job with its arguments when due, and advances the due time', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(0, {
      args: { port: 'Rotterdam' },
      priority: 4,
      tags: ['night'],
      concurrency: { key: 'quay', limit: 2 },
    });
    const { jobIds } = await recurring.fire(id);
    const [job] = await fixture.jobsOf(queue);
    expect(job).to.deep.include({ id: jobIds[0], name: 'tick', state: 'enqueued', priority: 4 });
    expect(job).to.deep.include({ args: { port: 'Rotterdam' }, recurringJobId: id, tags: ['night'] });
    const after = await recurring.find(id);
    expect(after).to.deep.include({ lastDueAt: nextDueAt, lastJobId: jobIds[0] });
    expect(after.nextDueAt).to.be.greaterThan(nextDueAt);
  });

  it('gives the jobs its tags and the concurrency key that the definition derives from the arguments', async () => {
    const Port = Type.Object({ port: Type.String() });
    const definition = defineJob({
      name: 'dredge',
      args: Port,
      concurrency: { key: ({ port }) => port, limit: 1 },
    });
    const args = { port: 'Rotterdam' };
    const queue = fixture.newQueue();
    const options = { id: `dredge-${queue}`, definition, args, queue, cron: '0 * * * *', tags: ['night'] };
    await fixture.storage.recurring.addOrUpdate(defineRecurringJob(options));
    for (let run = 0; run < 2; run++) await fixture.storage.recurring.trigger(options.id);
    const { id: serverId } = await fixture.register(queue);
    const claimed = await eventually(
      async () => {
        await fixture.storage.maintenance.resolveDependencies(100);
        return fixture.claim(serverId, queue);
      },
      (jobs) => jobs.length > 0,
    );
    expect(claimed.map(({ meta }) => meta)).to.deep.equal([
      { recurringJobId: options.id, tags: ['night'], concurrencyKey: 'Rotterdam', concurrencyLimit: 1 },
    ]);
  });

  it('enqueues nothing before the due time', async () => {
    const month = ((await fixture.storage.readClock()).getUTCMonth() + 6) % 12;
    const { id, queue } = await recurring.add({ cron: `0 0 1 ${month + 1} *` });
    const { fired } = await fixture.storage.recurring.fireDue(1_000);
    expect(fired.map((entry) => entry.id)).not.to.include(id);
    expect(await fixture.jobsOf(queue)).to.deep.equal([]);
  });

  it('returns the time until the next recurring job is due', async () => {
    for (const { id } of await fixture.storage.recurring.list()) await fixture.storage.recurring.remove(id);
    await recurring.add();
    const { from, report, until, nextDueAt } = await eventually(
      async () => ({
        from: (await fixture.storage.readClock()).getTime(),
        report: await fixture.storage.recurring.fireDue(1_000),
        until: (await fixture.storage.readClock()).getTime(),
        nextDueAt: (await fixture.storage.recurring.list())[0]?.nextDueAt?.getTime() ?? Infinity,
      }),
      ({ report: { fired } }) => fired.length === 0,
    );
    expect(report.nextDueMs).to.be.within(nextDueAt - until - 1, nextDueAt - from + 1);
  });

  it('enqueues one job per due time, however many servers poll', async () => {
    const all: RecurringJob[] = [];
    while (all.length < 20) all.push(await recurring.addDue(0));
    await Promise.all(Array.from({ length: 8 }, async () => fixture.storage.recurring.fireDue(5)));
    await eventually(
      () => fixture.storage.recurring.fireDue(1_000),
      ({ fired }) => fired.length === 0,
    );
    for (const { queue } of all) expect(await fixture.jobsOf(queue)).to.have.length(1);
  });

  // Postgres would read an unquoted "null" in an array as NULL.
  for (const name of ['missed-runs', 'null']) {
    it(`keeps missed runs of a recurring job called ${name}, consecutive ones as one entry`, async () => {
      const { id } = await recurring.addDue(0, { id: name, cron: '* * * * * *', overlap: 'skip' });
      await recurring.fire(id);
      const skip = (): Promise<SkippedDueTimes> =>
        eventually(async () => {
          const { fired } = await fixture.storage.recurring.fireDue(1_000);
          return fired.find((entry) => entry.id === id)?.skipped;
        });
      const [{ from }, { until: end }] = [await skip(), await skip()];
      expect(await fixture.storage.recurring.listMissed([id, 'other'], 1)).to.deep.equal([
        { recurringJobId: id, from, until: end, reason: 'overlap' },
      ]);
      await fixture.storage.recurring.remove(id);
    });
  }

  it('fires an interval at multiples of its length from its anchor', async () => {
    const anchor = new Date('2026-01-01T00:00:20Z');
    const { id, queue, nextDueAt } = await recurring.addDue(10 * minuteMs, {
      every: '1 min',
      anchor,
      misfire: 'all',
    });
    const due = nextDueAt.getTime() + 20_000;
    await fixture.setNextDue(id, new Date(due));
    await recurring.fire(id);
    const jobs = await fixture.jobsOf(queue);
    const { lastDueAt, nextDueAt: next } = await recurring.find(id);
    expect(lastDueAt?.getTime()).to.equal(due + (jobs.length - 1) * minuteMs);
    expect(next?.getTime()).to.equal(due + jobs.length * minuteMs);
    expect(jobs.length).to.be.at.least(10);
  });

  it('misfire once: one job for all missed due times', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(10 * minuteMs);
    const { skipped } = await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(1);
    expect(skipped).to.deep.include({ from: nextDueAt, reason: 'misfire' });
  });

  it('misfire skip: no job for due times missed by more than a minute', async () => {
    const now = await fixture.storage.readClock();
    const at = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs - 90 * minuteMs);
    const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    const { id, queue } = await recurring.add({ cron, misfire: 'skip' });
    await fixture.setNextDue(id, at);
    const { jobIds, skipped } = await recurring.fire(id);
    expect(jobIds).to.deep.equal([]);
    expect(skipped?.reason).to.equal('misfire');
    expect(await fixture.jobsOf(queue)).to.deep.equal([]);
    expect((await recurring.find(id)).lastJobId).to.equal(null);
  });

  it('misfire all: a job for each missed due time, up to the limit, skipping the oldest', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(10 * minuteMs, {
      misfire: 'all',
      misfireLimit: 4,
    });
    const { skipped } = await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(4);
    expect(skipped?.from).to.deep.equal(nextDueAt);
  });

  it('overlap allow: runs in parallel with the previous job', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(0);
    await recurring.fire(id);
    await fixture.setNextDue(id, nextDueAt);
    await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(2);
  });

  it('overlap skip: skips due times while the previous job is unfinished', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(0, { overlap: 'skip' });
    await recurring.fire(id);
    await fixture.setNextDue(id, nextDueAt);
    expect((await recurring.fire(id)).skipped?.reason).to.equal('overlap');
    expect(await fixture.jobsOf(queue)).to.have.length(1);
    await recurring.finish(queue);
    await fixture.setNextDue(id, nextDueAt);
    await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(2);
  });

  it('overlap wait: stays due until the previous job has finished', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(0, { overlap: 'wait' });
    await recurring.fire(id);
    await fixture.setNextDue(id, nextDueAt);
    const { fired } = await fixture.storage.recurring.fireDue(1_000);
    expect(fired.map((entry) => entry.id)).not.to.include(id);
    expect((await recurring.find(id)).nextDueAt).to.deep.equal(nextDueAt);
    await recurring.finish(queue);
    await recurring.fire(id);
    expect(await fixture.jobsOf(queue)).to.have.length(2);
  });

  it('overlap wait with misfire all: one job after the other, none lost', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(3 * minuteMs, {
      overlap: 'wait',
      misfire: 'all',
    });
    for (let minute = 0; minute < 3; minute++) {
      await Promise.all(Array.from({ length: 4 }, async () => fixture.storage.recurring.fireDue(1_000)));
      expect(await fixture.jobsOf(queue)).to.have.length(minute + 1);
      expect((await recurring.find(id)).lastDueAt).to.deep.equal(
        new Date(nextDueAt.getTime() + minute * minuteMs),
      );
      await recurring.finish(queue);
    }
  });

  it('enqueues nothing while paused, and does not count that time as missed', async () => {
    const { id, queue } = await recurring.addDue(10 * minuteMs, { misfire: 'all' });
    await fixture.storage.recurring.pause(id);
    await fixture.storage.recurring.fireDue(1_000);
    const resumed = await fixture.storage.recurring.resume(id);
    expect(resumed?.pausedAt).to.equal(null);
    expect(resumed?.nextDueAt?.getTime()).to.be.greaterThan(resumed?.createdAt.getTime() ?? Infinity);
    expect(await fixture.jobsOf(queue)).to.deep.equal([]);
  });
}
