import { defineJob, JobClient, ReadTimeoutError } from '@longshore/jobs';
import { positionAt } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { type PostgresOptions, PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const job = defineJob({ name: 'plain' });

describe('Reads of the Postgres storage', () => {
  let database: TestDatabase;
  let lock: pg.Client;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    lock = new pg.Client(database.url);
    await lock.connect();
  });
  afterEach(async () => {
    await lock.query('rollback');
    await storage.close();
    await lock.end();
    await database.drop();
  });

  const open = async (options: Partial<PostgresOptions> = {}): Promise<void> => {
    storage = new PostgresStorage({ url: database.url, ...patientStorage, readPoolSize: 2, ...options });
    await storage.open();
  };
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it('that take too long fail with what to do', async () => {
    // Not opened, because the reads of `open` are limited, too.
    storage = new PostgresStorage({ url: database.url, ...patientStorage, readTimeoutMs: 100 });
    await lock.query('begin; lock table longshore.server in access exclusive mode');
    const error = await failureOf(storage.servers.list());
    expect(error).to.be.instanceOf(ReadTimeoutError);
    expect((error as Error).message).to.match(/took longer than 100 ms: ask for less/);
  });

  it('are counted: connections in use and idle, calls that wait, and how long connecting took', async () => {
    await open();
    await lock.query('begin; lock table longshore.lost_server in access exclusive mode');
    const reads = Array.from({ length: 5 }, () => storage.servers.listLost());
    const statusOf = () => storage.pools().find(({ name }) => name === 'reads');
    await eventually(() => statusOf()?.connects === 2);
    expect(statusOf()).to.deep.include({ size: 2, inUse: 2, idle: 0, waiting: 3, connectErrors: 0 });
    expect(statusOf()?.connectMs).to.be.above(0);
    await lock.query('rollback');
    await Promise.all(reads);
    expect(statusOf()).to.deep.include({ inUse: 0, idle: 2, waiting: 0 });
  });

  it('are counted when no connection can be opened, too', async () => {
    storage = new PostgresStorage({ url: 'postgres://nobody@127.0.0.1:1/none', readPoolSize: 2 });
    await failureOf(storage.servers.list());
    const reads = storage.pools().find(({ name }) => name === 'reads');
    expect(reads).to.include({ connects: 0, inUse: 0 });
    expect(reads?.connectErrors).to.be.at.least(1);
  });

  it('leave connections for jobs, however many reads there are', async () => {
    await open();
    await lock.query('begin; lock table longshore.lost_server in access exclusive mode');
    const reads = Array.from({ length: 50 }, () => storage.servers.listLost());
    await eventually(
      () => database.waitingForLocks(),
      (waiting) => waiting === 2,
    );
    const { id } = await new JobClient(storage).enqueue(job, {});
    const cancelled = await storage.control.cancel(id);
    await lock.query('rollback');
    await Promise.all(reads);
    expect(cancelled.outcome).to.equal('ok');
  });

  it('that search use the read replica, unless an action is based on them', async () => {
    const replica = await createStoreDatabase();
    try {
      await open({ searchUrl: `${replica.url}?options=-c%20default_transaction_read_only%3Don` });
      const copy = new PostgresStorage({ url: replica.url, ...patientStorage });
      for (const [to, jobs] of [[storage, 1] as const, [copy, 2] as const])
        for (let n = 0; n < jobs; n++) await new JobClient(to).enqueue(job, { n });
      await copy.close();
      const filter = { name: ['plain'] };
      const { count } = await storage.jobs.count(filter);
      const { enqueued } = await storage.jobs.countByState(filter);
      const orphans = await storage.jobs.listOrphans();
      const { total } = await storage.jobs.search({ filter: { q: 'plain' }, limit: 10, maxBytes: 1_000_000 });
      const { matched } = await storage.bulk.start({ action: 'cancel', filter });
      await storage.close();
      storage = new PostgresStorage({ url: database.url, ...patientStorage });
      expect([count, enqueued.count, orphans[0]?.jobs, total, matched?.count]).to.deep.equal([2, 2, 2, 2, 1]);
    } finally {
      await replica.drop();
    }
  });

  it('that search share no connection with the feed on which callers wait', async () => {
    await open();
    await lock.query('begin; lock table longshore.job_scheduled in access exclusive mode');
    const searches = Array.from({ length: 20 }, () => storage.jobs.listOrphans());
    await eventually(
      () => database.waitingForLocks(),
      (waiting) => waiting === 2,
    );
    const from = positionAt(await storage.feed.readSettled());
    const page = await storage.feed.read({ from, limit: 1_000, topics: ['done'] });
    await lock.query('rollback');
    await Promise.all(searches);
    expect(page.next).to.equal(null);
  });

  it('that list share no connection with lookups of single jobs', async () => {
    await open();
    const { id } = await new JobClient(storage).enqueue(job, {});
    await lock.query('begin; lock table longshore.lost_server in access exclusive mode');
    const lists = Array.from({ length: 50 }, () => storage.servers.listLost());
    await eventually(
      () => database.waitingForLocks(),
      (waiting) => waiting === 2,
    );
    const found = await storage.jobs.find(id);
    await lock.query('rollback');
    await Promise.all(lists);
    expect(found).to.include({ id });
  });
});
