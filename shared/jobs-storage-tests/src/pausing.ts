import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { AuditEntry, PauseOptions, PauseState } from '@longshore/jobs/storage';
import { RecurringFixture } from './recurring-fixture.js';
import { pauseBriefly } from './pause-briefly.js';
import { type Fixture, hourMs } from './storage-under-test.js';

/** A queue, job type or recurring job that a test pauses. */
interface Subject {
  readonly name: string;
  readonly pause: (options: PauseOptions) => Promise<unknown>;
  readonly read: () => Promise<PauseState | undefined>;
}

/** Defines the tests of pauses: who paused something, why, until when, and how the pause ends. */
export function pausing(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);
  let types = 0;

  const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
    queues: async () => {
      const name = fixture.newQueue();
      const { queues } = fixture.storage;
      return {
        name,
        pause: (options) => queues.pause(name, options),
        read: async () => (await queues.find(name)) ?? undefined,
      };
    },
    types: async () => {
      const name = `pauses.${++types}`;
      const { jobTypes } = fixture.storage;
      return {
        name,
        pause: (options) => jobTypes.pause(name, options),
        read: async () => (await jobTypes.listPaused()).find((type) => type.name === name),
      };
    },
    recurring: async () => {
      const { id: name } = await recurring.add();
      return {
        name,
        pause: (options) => fixture.storage.recurring.pause(name, options),
        read: () => recurring.find(name),
      };
    },
  };

  const inMs = (ms: number): Date => new Date(fixture.storage.clock.now() + ms);

  const nextSecond = (at: Date): Date => new Date(Math.ceil(at.getTime() / 1_000) * 1_000);

  /** Ends expired pauses until the audit log contains `action` on `target`, and resolves to that audit entry. */
  async function resumed(action: string, target: string): Promise<AuditEntry> {
    return eventually(async () => {
      await fixture.storage.maintenance.resumeDue(100);
      return (await fixture.storage.audit.list({ limit: 1, action, target }))[0];
    });
  }

  for (const [kind, make] of Object.entries(subjects)) {
    it(`keeps who paused something, why, and until when, and resumes it at that time: ${kind}`, async () => {
      const { name, pause, read } = await make();
      const end = inMs(hourMs);
      await pause({ by: 'ann', reason: 'PSP outage', until: end });
      expect(await read()).to.include({ pausedBy: 'ann', pauseReason: 'PSP outage' });
      expect((await read())?.pausedUntil).to.deep.equal(end);

      await pause({ by: 'bob', reason: 'short', until: end });
      expect(await read()).to.include({ pausedBy: 'bob', pauseReason: 'short' });

      await pauseBriefly(fixture, (until) => pause({ by: 'bob', reason: 'short', until }));
      const entry = await resumed(`${kind}/resume`, name);
      expect(entry).to.include({ who: 'Longshore', reason: null, count: 1 });
      expect(entry.filter).to.deep.equal({ automatic: true });
      const { pausedAt, pausedBy, pauseReason, pausedUntil } = (await read()) ?? {};
      for (const member of [pausedAt, pausedBy, pauseReason, pausedUntil])
        expect(member ?? null).to.equal(null);
    });

    it(`changes nothing if the same pause is in effect: ${kind}`, async () => {
      const { pause, read } = await make();
      await pause({ by: 'ann', reason: 'PSP outage' });
      const before = await read();
      await pause({ by: 'bob', reason: 'PSP outage' });
      expect(await read()).to.deep.equal(before);
    });

    it(`refuses a reason or an end that is out of bounds: ${kind}`, async () => {
      const { pause, read } = await make();
      for (const options of [
        { reason: '' },
        { reason: 'x'.repeat(501) },
        { until: inMs(-1_000) },
        { until: inMs(367 * 86_400_000) },
        { until: new Date(Number.NaN) },
      ]) {
        const error = await pause(options).catch((thrown: unknown) => thrown);
        expect(error, JSON.stringify(options)).to.be.instanceOf(RangeError);
      }
      expect((await read())?.pausedAt ?? null).to.equal(null);
    });
  }

  it('lets servers claim from a queue as soon as its pause has ended, even if nothing has resumed it', async () => {
    for (const limits of [{}, { concurrencyLimit: 5 }]) {
      const queue = fixture.newQueue();
      await fixture.storage.queues.limit(queue, limits);
      await fixture.enqueue(queue);
      const { id } = await fixture.register(queue);
      const end = await pauseBriefly(fixture, (until) => fixture.storage.queues.pause(queue, { until }));
      const [claimed] = await fixture.claimSome(id, queue);
      const job = await fixture.storage.jobs.find(claimed.claim.jobId);
      expect(job?.startedAt).to.be.at.least(end);
      expect((await fixture.storage.queues.find(queue))?.pausedAt).to.equal(null);
    }
  });

  it('returns to the jobs of a type that claims have passed during its pause', async () => {
    const queue = fixture.newQueue();
    const name = 'pauses.passed';
    const { id } = await fixture.register(queue);
    await fixture.storage.jobTypes.pause(name);
    await fixture.enqueue(queue, { name });
    await fixture.enqueue(queue);
    expect(await fixture.claim(id, queue)).to.have.length(1);
    await pauseBriefly(fixture, (until) => fixture.storage.jobTypes.pause(name, { until }));
    await resumed('types/resume', name);
    expect((await fixture.claim(id, queue)).map((job) => job.name)).to.deep.equal([name]);
  });

  it('fires a recurring job whose run is due at the very time at which its pause ends', async () => {
    const { id } = await recurring.add({ cron: '* * * * * *' });
    const end = await pauseBriefly(
      fixture,
      (until) => fixture.storage.recurring.pause(id, { until }),
      nextSecond,
    );
    await resumed('recurring/resume', id);
    expect((await recurring.find(id)).nextDueAt).to.deep.equal(end);
    await fixture.storage.recurring.remove(id);
  });

  it('does not swallow the runs since the end of a pause if somebody resumes a recurring job before a server does', async () => {
    const { storage } = fixture;
    const { id } = await recurring.add({ cron: '* * * * * *' });
    const end = await pauseBriefly(fixture, (until) => storage.recurring.pause(id, { until }), nextSecond);
    await fixture.untilAfter(end);
    expect((await storage.recurring.resume(id))?.nextDueAt).to.deep.equal(end);
    await storage.recurring.remove(id);
  });

  it('returns the time until the next pause ends', async () => {
    const queue = fixture.newQueue();
    const end = inMs(hourMs);
    await fixture.storage.queues.pause(queue, { until: end });
    const from = await fixture.storage.readClock();
    const { nextDueMs } = await fixture.storage.maintenance.resumeDue(100);
    const until = await fixture.storage.readClock();
    expect(nextDueMs).to.be.within(end.getTime() - until.getTime() - 1, end.getTime() - from.getTime() + 1);
    await fixture.storage.queues.resume(queue);
  });

  it('stores the reason of an action in its audit entry', async () => {
    const queue = fixture.newQueue();
    const entry = { who: 'ann', action: 'queues/limit', target: queue, filter: null, count: 1 };
    await fixture.storage.queues.limit(
      queue,
      { concurrencyLimit: 1 },
      { audit: () => ({ ...entry, reason: 'spare the database' }) },
    );
    expect((await fixture.storage.audit.list({ limit: 1, target: queue }))[0]?.reason).to.equal(
      'spare the database',
    );
  });
}
