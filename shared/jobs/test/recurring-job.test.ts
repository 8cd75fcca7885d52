import { expect } from 'chai';
import Type from 'typebox';
import {
  defineJob,
  defineRecurringJob,
  InvalidArgumentsError,
  InvalidScheduleError,
  JobServer,
  MemoryStorage,
} from '../src/index.js';
import { planFiring } from '../src/storage.js';

const report = defineJob({ name: 'report', args: Type.Object({ days: Type.Integer() }), queue: 'mail' });
const options = { id: 'nightly-report', definition: report, args: { days: 1 }, cron: '30 2 * * *' };

describe('A recurring job', () => {
  it('takes missing options from its definition and the defaults', () => {
    expect(defineRecurringJob(options)).to.deep.equal({
      id: 'nightly-report',
      name: 'report',
      args: '{"days":1}',
      queue: 'mail',
      priority: 0,
      maxAttempts: 10,
      timeoutMs: null,
      cron: '30 2 * * *',
      timeZone: 'UTC',
      every: null,
      anchor: null,
      misfire: 'once',
      misfireLimit: 100,
      overlap: 'allow',
      maxBacklog: null,
      tags: [],
      concurrency: null,
      unique: null,
      version: 1,
    });
  });

  it('takes the unique key of its definition, unless it is given another or none', () => {
    const definition = defineJob({ name: 'sync', unique: { key: 'all', periodMs: 5_000 } });
    const states = ['scheduled', 'awaiting', 'enqueued', 'processing'];
    const uniqueOf = (unique?: { key: string } | null): unknown =>
      defineRecurringJob({ id: 'sync', definition, every: '1 h', ...(unique !== undefined && { unique }) })
        .unique;
    expect(uniqueOf()).to.deep.equal({ key: 'all', periodMs: 5_000, states, onConflict: 'keep' });
    expect(uniqueOf({ key: 'other' })).to.deep.equal({
      key: 'other',
      periodMs: null,
      states,
      onConflict: 'keep',
    });
    expect(uniqueOf(null)).to.equal(null);
  });

  it('rejects a unique key and a time limit that no job may have', () => {
    const define = (given: object): unknown => defineRecurringJob({ ...options, ...given });
    expect(() => define({ unique: { key: '' } })).to.throw(RangeError, 'The unique key must be');
    expect(() => define({ unique: { kay: 'a' } })).to.throw(TypeError, 'Did you mean "key"?');
    expect(() => define({ timeoutMs: 0 })).to.throw(RangeError, 'timeoutMs must be an integer');
  });

  it('rejects an invalid id', () => {
    expect(() => defineRecurringJob({ ...options, id: 'nightly report' })).to.throw(
      RangeError,
      'recurring job',
    );
  });

  it('rejects arguments that do not match the definition’s schema', () => {
    const args = { days: 'one' } as unknown as { days: number };
    expect(() => defineRecurringJob({ ...options, args })).to.throw(InvalidArgumentsError, 'args.days');
  });

  it('rejects an invalid cron expression', () => {
    expect(() => defineRecurringJob({ ...options, cron: 'daily' })).to.throw(InvalidScheduleError);
  });

  it('rejects a limit that is out of bounds', () => {
    expect(() => defineRecurringJob({ ...options, misfireLimit: 0 })).to.throw(RangeError, 'misfireLimit');
  });

  it('requires the server to name its application', () => {
    const recurring = [defineRecurringJob(options)];
    const storage = new MemoryStorage();
    expect(() => new JobServer({ storage, handlers: [], recurring })).to.throw(RangeError, 'application');
  });

  it('is rejected if a server defines it twice', () => {
    const recurring = [defineRecurringJob(options), defineRecurringJob(options)];
    const storage = new MemoryStorage();
    expect(() => new JobServer({ storage, handlers: [], application: 'shop', recurring })).to.throw(
      RangeError,
      'nightly-report',
    );
  });
});

describe('The firing of a recurring job', () => {
  const job = { ...defineRecurringJob({ ...options, cron: '0 * * * *' }) };
  const at = (time: string): Date => new Date(`2026-05-01T${time}Z`);

  it('treats a due time up to a minute late as on time', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('10:00'), at('10:01'), false);
    expect(firing?.dueTimes).to.deep.equal([at('10:00')]);
  });

  it('treats a due time more than a minute late as missed', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('10:00'), at('10:01:01'), false);
    expect(firing).to.deep.equal({
      dueTimes: [],
      nextDueAt: at('11:00'),
      skipped: { from: at('10:00'), until: at('11:00'), reason: 'misfire' },
    });
  });

  it('runs for the last due time that is on time, whatever was missed before', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('08:00'), at('10:00:30'), false);
    expect(firing).to.deep.equal({
      dueTimes: [at('10:00')],
      nextDueAt: at('11:00'),
      skipped: { from: at('08:00'), until: at('10:00'), reason: 'misfire' },
    });
  });

  it('runs for the latest missed due times up to the limit, even after a week of every second', () => {
    const busyJob = { ...job, cron: '* * * * * *' };
    const firing = planFiring(
      { ...busyJob, misfire: 'all' },
      new Date('2026-04-24T10:00Z'),
      at('10:00'),
      false,
    );
    expect(firing?.dueTimes).to.have.length(100);
    expect(firing?.dueTimes.at(-1)).to.deep.equal(at('10:00'));
  });

  it('enqueues one job for all missed due times if they would have the same unique key', () => {
    const unique = { key: 'a', periodMs: null, states: ['enqueued'], onConflict: 'keep' } as const;
    const missed = { ...job, misfire: 'all', unique } as const;
    expect(planFiring(missed, at('08:00'), at('10:00'), false)?.dueTimes).to.deep.equal([at('10:00')]);
    const waiting = planFiring({ ...missed, overlap: 'wait' }, at('08:00'), at('10:00'), false);
    expect([waiting?.dueTimes, waiting?.nextDueAt]).to.deep.equal([[at('08:00')], at('09:00')]);
  });

  it('counts from the anchor of an interval', () => {
    const interval = { ...job, cron: null, every: '90 min', anchor: at('00:10') };
    expect(planFiring(interval, at('09:10'), at('10:00'), false)).to.deep.equal({
      dueTimes: [at('09:10')],
      nextDueAt: at('10:40'),
      skipped: null,
    });
  });

  it('uses the current rules of the time zone', () => {
    const firing = planFiring(job, at('10:17'), at('10:18'), false);
    expect(firing?.dueTimes).to.deep.equal([at('10:17')]);
    expect(firing?.nextDueAt).to.deep.equal(at('11:00'));
  });
});
