import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import {
  createTestDatabase,
  eventually,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A storage with a pool of the application', () => {
  const work = defineJob({ name: 'work' });
  let database: TestDatabase;
  let pool: pg.Pool;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    const { hostname, port, username, password, pathname } = new URL(database.url);
    pool = new pg.Pool({
      host: hostname,
      port: Number(port),
      user: username,
      password: () => decodeURIComponent(password),
      database: pathname.slice(1),
      max: 3,
      idleTimeoutMillis: 0, // keeps connections open, however long a test takes
    });
    storage = new PostgresStorage({ pool, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await pool.end();
    await database.drop();
  });

  it('writes through its connections, and runs jobs in transactions of a handler', async () => {
    let seen: unknown;
    const server = new JobServer({
      storage,
      ...patientServer,
      handlers: [
        handleJob(work, ({ transaction }) =>
          transaction(async (client) => {
            const { rows } = await client.query(`select 'infinity'::timestamptz as at, 1 as one`);
            [seen] = rows;
          }),
        ),
      ],
    });
    await server.start();
    const before = pool.totalCount;
    const { id } = await new JobClient(storage).enqueue(work);
    await eventually(
      () => storage.jobs.find(id),
      (job) => job?.state === 'done',
    );
    expect(seen).to.deep.equal({ at: Infinity, one: 1 }); // parsed by pg's own type parsers, not the storage's
    expect(Math.max(before, pool.totalCount)).to.be.within(1, 3);
    await server.stop();
  });

  it('enqueues in the transactions that the application opens on the pool, even on all connections at once', async () => {
    const transact = async (queue: string): Promise<string> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const { id } = await new JobClient(storage).enqueue(work, {}, { queue, transaction: client });
        await client.query('commit');
        return id;
      } finally {
        client.release();
      }
    };
    const ids = await Promise.all(['new-1', 'new-2', 'new-3', 'new-4'].map(transact));
    expect(new Set(ids).size).to.equal(4);
  });

  it('returns the connections of a pool that it rejects', async () => {
    const native = new pg.Pool({ connectionString: database.url, max: 1 });
    native.on('connect', (client) => Object.assign(client, { native: {} })); // simulates native bindings
    const rejecting = new PostgresStorage({ pool: native, ...patientStorage });
    for (let n = 0; n < 2; n++) {
      const error: unknown = await rejecting.queues.pause('q').catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message').that.includes('native bindings');
    }
    await rejecting.close();
    await native.end();
  });

  it('leaves the settings of the connections as they are', async () => {
    await new JobClient(storage).enqueue(work);
    for (let n = 0; n < 3; n++) {
      const { rows } = await pool.query(
        `select current_setting('enable_seqscan') as plans, current_setting('statement_timeout') as timeout`,
      );
      expect(rows).to.deep.equal([{ plans: 'on', timeout: '0' }]);
    }
  });

  describe('with one connection', () => {
    const prepared = `select name from pg_prepared_statements where name like 'longshore-%'`;
    let single: pg.Pool;

    const enqueueWith = async (options: object): Promise<void> => {
      const other = new PostgresStorage({ pool: single, ...patientStorage, ...options });
      await new JobClient(other).enqueue(work);
      await other.close();
    };

    beforeEach(() => void (single = new pg.Pool({ connectionString: database.url, max: 1 })));
    afterEach(() => single.end());

    it('prepares its statements there, unless the pool leads to a pooler', async () => {
      await enqueueWith({ pooler: 'transaction' });
      expect((await single.query(prepared)).rows).to.deep.equal([]);
      await enqueueWith({});
      expect((await single.query(prepared)).rows).to.have.lengthOf.at.least(1);
    });

    it('goes on when the application discards the prepared statements', async () => {
      await enqueueWith({});
      await single.query('discard all');
      await enqueueWith({});
      expect((await single.query(prepared)).rows).to.have.lengthOf.at.least(1);
    });

    it('runs a transaction again when the application discards the prepared statements', async () => {
      await enqueueWith({ disableGlobalLocks: false });
      await single.query('discard all');
      await enqueueWith({ disableGlobalLocks: false });
      expect((await single.query(prepared)).rows).to.have.lengthOf.at.least(1);
    });

    it('prepares a statement once for each schema', async () => {
      const second = new PostgresStorage({ pool: single, ...patientStorage, schema: 'another' });
      await second.open();
      for (const schema of ['longshore', 'another', 'longshore']) await enqueueWith({ schema });
      await second.close();
    });
  });

  it('leaves no transaction open on them when a statement fails', async () => {
    await pool.query('alter table longshore.job rename to moved');
    const error: unknown = await new JobClient(storage).enqueue(work).catch((thrown: unknown) => thrown);
    await pool.query('alter table longshore.moved rename to job');
    expect(error).to.be.instanceOf(Error);
    const all = Array.from({ length: 3 }, () => pool.query('select now() = statement_timestamp() as fresh'));
    for (const { rows } of await Promise.all(all)) expect(rows).to.deep.equal([{ fresh: true }]);
    expect(await new JobClient(storage).enqueue(work)).to.have.property('id');
  });

  it('sends heartbeats although a function returns the password', async () => {
    const registration = await storage.servers.register({
      host: 'here',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 5_000,
    });
    registration.report(7);
    await eventually(
      () => storage.servers.list(),
      (servers) => servers.some(({ processing }) => processing === 7),
    );
    await registration.unregister();
  });

  it('does not close the pool, which two schemas can share', async () => {
    const second = new PostgresStorage({ pool, ...patientStorage, schema: 'second' });
    await second.open();
    await new JobClient(second).enqueue(work);
    await second.close();
    expect((await pool.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await new JobClient(storage).enqueue(work);
  });
});

describe('The option pool', () => {
  const rejected = (pool: unknown, options: object = {}): (() => unknown) => {
    return () => new PostgresStorage({ pool: pool as pg.Pool, ...patientStorage, ...options });
  };

  it('rejects what is not a usable pool, and settings that contradict it', async () => {
    const closed = new pg.Pool();
    await closed.end();
    expect(rejected(new pg.Client())).to.throw(RangeError, 'pool must be a Pool of the package pg');
    expect(rejected(closed)).to.throw(RangeError, 'pool has been closed');
    expect(rejected(new pg.Pool({ query_timeout: 1_000 }))).to.throw(RangeError, 'query_timeout');
    expect(rejected(new pg.Pool(), { url: 'postgres://localhost/jobs' })).to.throw(
      RangeError,
      'Give either pool or url',
    );
    expect(rejected(new pg.Pool(), { poolSize: 3 })).to.throw(RangeError, 'Give either pool or poolSize');
  });
});

describe('The option ssl', () => {
  it('is rejected beside a URL with its own parameters', () => {
    const url = 'postgres://localhost/jobs?sslmode=require';
    expect(() => new PostgresStorage({ url, ...patientStorage, ssl: true })).to.throw(
      RangeError,
      'has its own ssl parameters',
    );
  });

  it('applies to connections by URL: the tests’ Postgres, which has no certificate, is rejected', async () => {
    const database = await createTestDatabase();
    const storage = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      ssl: { rejectUnauthorized: false },
    });
    const error: unknown = await storage.open().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('cause').that.has.property('message').that.contains('SSL');
    await storage.close();
    await database.drop();
  });
});
