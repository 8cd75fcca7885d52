import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineJob, JobClient } from '@longshore/jobs';
import { expect } from 'chai';
import pg from 'pg';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

/** Statements that wait for a lock. */
const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe('A read whose caller has left', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let blocker: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await new JobClient(storage).enqueue(defineJob({ name: 'harbour' }), {}, { tags: ['quay'] });
  });

  beforeEach(async () => {
    blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query('begin; lock table longshore.job in access exclusive mode');
  });

  afterEach(() => blocker.end());

  after(async () => {
    await storage.close();
    await database.drop();
  });

  /** Aborts `read` while it waits for a lock, and expects it to end in Postgres although the lock is held. */
  async function expectEnd(read: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const left = new AbortController();
    const result = read(left.signal).catch((error: unknown) => error);
    await eventually(async () => (await database.query(waiting)).length === 1);
    left.abort();
    expect(await result).to.equal(left.signal.reason);
    await eventually(async () => (await database.query(waiting)).length === 0);
  }

  const filter = { q: 'harbour' };
  const page = { filter, limit: 10, maxBytes: 100_000 };
  it('of a list', () => expectEnd((signal) => storage.jobs.listPage({ ...page, signal })));
  it('of a search', () => expectEnd((signal) => storage.jobs.search({ ...page, signal })));
  it('of a count', () => expectEnd((signal) => storage.jobs.count({ tag: ['quay'] }, signal)));

  it('ends in Postgres on a connection of the application for reads that is closed', async () => {
    const application = createApplicationDatabase({ url: database.url, ...patientStorage });
    const connection = await application.reads.connect();
    const read = connection.query('select from longshore.job').catch((error: unknown) => error);
    await eventually(async () => (await database.query(waiting)).length === 1);
    connection.release(true);
    expect(await read).to.be.an('error');
    await eventually(async () => (await database.query(waiting)).length === 0);
    await application.close();
  });

  it('makes room for the next one', async () => {
    const left = new AbortController();
    const abandoned = Array.from({ length: 6 }, () =>
      storage.jobs.count({ tag: ['quay'] }, left.signal).catch((error: unknown) => error),
    );
    await eventually(async () => (await database.query(waiting)).length > 0);
    left.abort();
    expect(await Promise.all(abandoned)).to.deep.equal(Array(6).fill(left.signal.reason));
    await blocker.query('rollback');
    expect(await storage.jobs.count({ tag: ['quay'] })).to.deep.equal({ count: 1, exact: true });
  });
});
