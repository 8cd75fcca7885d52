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
import { planFiring } from '../src/storage/index.js';

const report = defineJob({ name: 'report', args: Type.Object({ days: Type.Integer() }), queue: 'mail' });
const options = { id: 'nightly-report', definition: report, args: { days: 1 }, cron: '30 2 * * *' };

describe('A recurring job', () => {
  it('takes what is not said from its definition and the defaults', () => {
    expect(defineRecurringJob(options)).to.deep.equal({
      id: 'nightly-report',
      name: 'report',
      args: '{"days":1}',
      queue: 'mail',
      priority: 0,
      maxAttempts: 10,
      cron: '30 2 * * *',
      timeZone: 'UTC',
      misfire: 'once',
      misfireLimit: 100,
      overlap: 'allow',
      tags: [],
      concurrency: null,
    });
  });

  it('refuses an id that is no slug', () => {
    expect(() => defineRecurringJob({ ...options, id: 'nightly report' })).to.throw(
      RangeError,
      'recurring job',
    );
  });

  it('refuses arguments that do not fit its definition', () => {
    const args = { days: 'one' } as unknown as { days: number };
    expect(() => defineRecurringJob({ ...options, args })).to.throw(InvalidArgumentsError, 'args.days');
  });

  it('refuses a cron expression that is none', () => {
    expect(() => defineRecurringJob({ ...options, cron: 'daily' })).to.throw(InvalidScheduleError);
  });

  it('refuses a limit out of its bounds', () => {
    expect(() => defineRecurringJob({ ...options, misfireLimit: 0 })).to.throw(RangeError, 'misfireLimit');
  });

  it('belongs to an application, which a server must name', () => {
    const recurring = [defineRecurringJob(options)];
    const storage = new MemoryStorage();
    expect(() => new JobServer({ storage, handlers: [], recurring })).to.throw(RangeError, 'application');
  });

  it('is defined once by a server', () => {
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

  it('counts up to a minute late as on time', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('10:00'), at('10:01'), false);
    expect(firing?.dueTimes).to.deep.equal([at('10:00')]);
  });

  it('counts more than a minute late as missed', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('10:00'), at('10:01:01'), false);
    expect(firing).to.deep.equal({
      dueTimes: [],
      nextDueAt: at('11:00'),
      skipped: { from: at('10:00'), until: at('11:00'), reason: 'misfire' },
    });
  });

  it('meets the last due time that is on time, whatever was missed before', () => {
    const firing = planFiring({ ...job, misfire: 'skip' }, at('08:00'), at('10:00:30'), false);
    expect(firing).to.deep.equal({
      dueTimes: [at('10:00')],
      nextDueAt: at('11:00'),
      skipped: { from: at('08:00'), until: at('10:00'), reason: 'misfire' },
    });
  });

  it('takes as long after a week of every second as after a day', () => {
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

  it('goes on by what the rules of the time zone say now', () => {
    const firing = planFiring(job, at('10:17'), at('10:18'), false);
    expect(firing?.dueTimes).to.deep.equal([at('10:17')]);
    expect(firing?.nextDueAt).to.deep.equal(at('11:00'));
  });
});
