import { defineJob, defineRecurringJob, handleJob, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Recurring jobs on several servers', () => {
  let database: TestDatabase;
  let storages: PostgresStorage[];

  beforeEach(async () => {
    database = await createStoreDatabase();
    storages = Array.from(
      { length: 4 },
      () => new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 3 }),
    );
    await Promise.all(storages.map((storage) => storage.open()));
  });

  afterEach(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await database.drop();
  });

  const tick = defineJob({ name: 'tick' });

  it('fire each due time once, over many due times', async () => {
    const recurring = Array.from({ length: 5 }, (_, index) =>
      defineRecurringJob({ id: `yearly-${index}`, definition: tick, args: {}, cron: '0 0 1 1 *' }),
    );
    await Promise.all(storages.map((storage) => storage.recurring.synchronize('shop', recurring)));
    for (let round = 1; round <= 30; round++) {
      await database.query(
        `update longshore.recurring_job set next_due_at = date_trunc('minute', now()) - $1 * interval '1 minute'`,
        [31 - round],
      );
      await Promise.all(storages.flatMap(({ recurring: jobs }) => [jobs.fireDue(2), jobs.fireDue(100)]));
      await eventually(
        () => storages[0]?.recurring.fireDue(100),
        (report) => report?.fired.length === 0,
      );
      const [enqueued] = await database.query<{ jobs: number }>(
        `select count(*)::integer as jobs from longshore.job where name = 'tick'`,
      );
      expect(enqueued?.jobs).to.equal(5 * round);
    }
  });

  it('use the clock of the database, not their own', async () => {
    const definition = defineJob({ name: 'yearly' });
    const soon = defineRecurringJob({ id: 'yearly', definition, args: {}, cron: '0 0 1 1 *' });
    const [storage] = storages;
    await storage?.recurring.addOrUpdate(soon);
    const { now } = Date;
    Date.now = () => now() + 400 * 86_400_000;
    try {
      expect(await storage?.recurring.fireDue(100)).to.deep.include({ fired: [] });
    } finally {
      Date.now = now;
    }
  });

  it('enqueue one job for each second that was due, and start each at most once', async () => {
    const runs: string[] = [];
    const handlers = [handleJob(tick, ({ job }) => void runs.push(job.id))];
    // Makes up for every second of a pause of the machine.
    const misfires = { misfire: 'all', misfireLimit: 1_000 } as const;
    const beat = { id: 'beat', definition: tick, args: {}, cron: '* * * * * *' };
    const recurring = [defineRecurringJob({ ...beat, ...misfires })];
    const servers = storages.map(
      (storage) => new JobServer({ storage, ...patientServer, handlers, application: 'shop', recurring }),
    );
    await Promise.all(servers.map((server) => server.start()));
    await eventually(
      () => runs,
      ({ length }) => length >= 3,
    );
    await Promise.all(servers.map((server) => server.stop()));
    const [seen] = await database.query<{ due: number; enqueued: number }>(
      `select (floor(extract(epoch from last_due_at)) - floor(extract(epoch from created_at)))::integer as due,
         ((select count(*) from longshore.job where name = 'tick')
           + (select count(*) from longshore.job_history where name = 'tick'))::integer as enqueued
       from longshore.recurring_job`,
    );
    expect(new Set(runs).size).to.equal(runs.length);
    expect(seen?.enqueued).to.equal(seen?.due);
    expect(runs.length).to.be.at.most(seen?.due ?? 0);
  });
});
