import type { Notification } from '@longshore/jobs/storage';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { newId, type NewJob } from '@longshore/jobs/storage';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import Type from 'typebox';
import { expect } from 'chai';
import { Database } from '../src/connection/database.js';
import { DatabaseClock } from '../src/connection/database-clock.js';
import { CancellationRequests } from '../src/claim/cancellation-requests.js';
import { Housekeeping } from '../src/maintain/housekeeping.js';
import { PostgresStorage } from '../src/index.js';
import { PostgresSetAside } from '../src/records/set-aside.js';
import { databaseOptions } from '../src/connection/options.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({
  name: 'work',
  args: Type.Object({ tenant: Type.String() }),
  concurrency: { key: ({ tenant }) => tenant, limit: 3 },
});

const keyedJobs = (count: number): NewJob[] =>
  Array.from({ length: count }, () => ({
    id: newId(),
    name: 'work',
    queue: 'default',
    priority: 0,
    args: '{}',
    maxAttempts: 1,
    due: null,
    meta: { concurrencyKey: 'a', concurrencyLimit: 1 },
  }));

describe('Concurrency keys on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 4 });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  const register = async (): Promise<string> =>
    (
      await storage.servers.register({
        host: 'x',
        pid: 1,
        queues: ['default'],
        concurrency: 1,
        timeoutMs: 3_600_000,
      })
    ).id;

  it('never run more jobs at once than their limit across several storages', async () => {
    const storages = Array.from(
      { length: 3 },
      () => new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 4 }),
    );
    const running = new Map<string, number>();
    let [most, ended] = [0, 0];
    const handler = handleJob(work, async ({ args: { tenant } }) => {
      const now = (running.get(tenant) ?? 0) + 1;
      running.set(tenant, now);
      most = Math.max(most, now);
      await eventually(() => most >= 3);
      await storage.readClock();
      running.set(tenant, (running.get(tenant) ?? 0) - 1);
      ended++;
    });
    const servers = storages.map(
      (each) => new JobServer({ storage: each, ...patientServer, handlers: [handler], concurrency: 10 }),
    );
    await Promise.all(servers.map((server) => server.start()));
    try {
      await new JobClient(storage).enqueueMany(
        Array.from({ length: 600 }, (_, n) => ({ definition: work, args: { tenant: `tenant-${n % 7}` } })),
      );
      await eventually(
        () => ended,
        (count) => count === 600,
      );
      expect(most).to.equal(3);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all(storages.map((each) => each.close()));
    }
  });

  it('unblock the next job on another server if the first dies after writing the outcome', async () => {
    await storage.enqueuer.enqueue(keyedJobs(2));
    await storage.maintenance.resolveDependencies(100);
    const serverId = await register();
    const [first] = await storage.claims.claim({ serverId, queue: 'default', limit: 10, leaseMs: 3_600_000 });
    if (first !== undefined)
      await storage.completions.complete([
        { claim: first.claim, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
      ]);
    await storage.close(); // before it has unblocked the next job
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.maintenance.resolveDependencies(100);
    const next = await storage.claims.claim({
      serverId: await register(),
      queue: 'default',
      limit: 10,
      leaseMs: 3_600_000,
    });
    expect(next).to.have.length(1);
  });

  it('unblock the next job after the running one was deleted from the table', async () => {
    await storage.enqueuer.enqueue(keyedJobs(3));
    await storage.maintenance.resolveDependencies(100);
    await database.query('delete from longshore.job where queue_id > 0');
    const direct = new Database(databaseOptions({ url: database.url, ...patientStorage }));
    const retention = { done: 7, failed: 30, cancelled: 7 };
    const setAside = new PostgresSetAside(direct, storage.clock, () => undefined);
    const notified: Notification[] = [];
    const notify = (notification: Notification): void => void notified.push(notification);
    await new Housekeeping(
      direct,
      new DatabaseClock(direct),
      retention,
      setAside,
      storage.timings,
      notify,
      new CancellationRequests(direct, notify),
    ).recordRoom();
    await direct.close();
    expect(notified).to.deep.equal([{ kind: 'outbox' }]);
    expect(await storage.maintenance.resolveDependencies(100)).to.equal(1);
    const inside = await database.query('select from longshore.job where queue_id > 0');
    expect(inside).to.have.length(1);
  });

  it('keep claims heap-only, including those of jobs with a key', async () => {
    const jobs = keyedJobs(500).map((job, n) => ({
      ...job,
      meta: { concurrencyKey: `key-${n}`, concurrencyLimit: 1 },
    }));
    const claimer = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      applicationName: 'measured',
    });
    await claimer.enqueuer.enqueue(jobs);
    while ((await claimer.maintenance.resolveDependencies(500)) > 0);
    const claimed = await claimer.claims.claim({
      serverId: await register(),
      queue: 'default',
      limit: 500,
      leaseMs: 3_600_000,
    });
    await claimer.close();
    await database.disconnected('measured');
    const [statistics] = await database.query<{ updated: string; hot: string }>(
      `select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_all_tables
       where schemaname = 'longshore' and relname = 'job'`,
    );
    expect(claimed).to.have.length(500);
    expect(statistics).to.deep.equal({ updated: '500', hot: '500' });
  });
});
