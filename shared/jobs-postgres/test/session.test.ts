import { defineJob, JobClient, type TransactionClient } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { type PostgresOptions, PostgresStorage } from '../src/index.js';
import { createOddDatabase, undecidedSettings } from './support/odd-session.js';
import { createStoreDatabase } from './support/store-database.js';

/** Settings that the storage applies to every transaction, or that differ between any two connections. */
const ofConnection = `'application_name', 'statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
  'transaction_timeout', 'default_transaction_isolation', 'transaction_isolation', 'client_encoding'`;

const selectSettings = `select pg_catalog.json_object_agg(name, setting) as settings from pg_catalog.pg_settings
  where name operator(pg_catalog.<>) all (array[${ofConnection}]::pg_catalog.text[])
    and pg_catalog.strpos(name, '.') operator(pg_catalog.=) 0 -- those of extensions appear when these are loaded`;

const settingsOf = async (client: Pick<TransactionClient, 'query'>): Promise<unknown> =>
  (await client.query<{ settings: unknown }>(selectSettings)).rows[0]?.settings;

const work = defineJob({ name: 'work', args: Type.Object({ n: Type.Integer() }) });

/** Opens a storage, claims a job, and calls `handler` in the transaction that ends it. */
async function inHandler(
  storage: PostgresStorage,
  handler: (client: TransactionClient) => Promise<unknown>,
): Promise<void> {
  const queue = newId();
  await new JobClient(storage).enqueue(work, { n: 1 }, { queue });
  const { id: serverId } = await storage.servers.register({
    host: 'x',
    pid: 1,
    queues: [queue],
    concurrency: 1,
    timeoutMs: 3_600_000,
  });
  const [claimed] = await storage.claims.claim({ serverId, queue, limit: 1, leaseMs: 3_600_000 });
  if (claimed === undefined) throw new Error('nothing was claimed');
  await storage.completions.completeInTransaction(claimed.claim, async (client) => {
    await handler(client);
    return 'null';
  });
  expect((await storage.jobs.find(claimed.claim.jobId))?.state).to.equal('done');
}

describe('Every setting of a session', () => {
  it('is either changed by the tests of sessions or listed as the operator’s', async () => {
    const database = await createStoreDatabase();
    expect(await undecidedSettings(database)).to.deep.equal([]);
    await database.drop();
  });
});

for (const [where, create] of [
  ['on a usual database', createStoreDatabase],
  ['on a database with odd settings', createOddDatabase],
] as const)
  describe(`The statements of a handler ${where}`, () => {
    let database: TestDatabase;
    let pool: pg.Pool;
    let plain: unknown;

    before(async () => {
      database = await create();
      pool = new pg.Pool({ connectionString: database.url, max: 2 });
      plain = await settingsOf(pool);
    });

    after(async () => {
      await pool.end();
      await database.drop();
    });

    const variants: Readonly<Record<string, () => Partial<PostgresOptions>>> = {
      'a connection of the storage': () => ({ url: database.url }),
      'the application’s pool': () => ({ pool }),
      'a pooler': () => ({ url: database.url, pooler: 'transaction' }),
    };

    let storage: PostgresStorage;

    const open = async (options: Partial<PostgresOptions>): Promise<void> => {
      storage = new PostgresStorage({ ...patientStorage, ...options });
      await storage.open();
    };

    afterEach(() => storage.close());

    for (const [on, options] of Object.entries(variants)) {
      it(`run with the settings of a plain connection, on ${on}`, async () => {
        await open(options());
        await inHandler(storage, async (client) => {
          expect(await settingsOf(client)).to.deep.equal(plain);
          await new JobClient(storage).enqueue(work, { n: 2 }, { transaction: client });
          expect(await settingsOf(client)).to.deep.equal(plain);
        });
      });

      it(`cannot change what the storage’s statements mean, on ${on}`, async () => {
        await open({ ...options(), ...(on.includes('storage') && { poolSize: 1 }) });
        const runAt = new Date('2040-05-06T07:08:09.123Z');
        await inHandler(storage, async (client) => {
          await client.query("set datestyle = 'German'");
          await client.query("set timezone = 'Asia/Kathmandu'");
          await client.query('set array_nulls = off');
          await client.query('set search_path = pg_temp');
          const { id } = await new JobClient(storage).enqueue(work, { n: 2 }, { transaction: client, runAt });
          expect((await storage.jobs.find(id, client))?.runAt).to.deep.equal(runAt);
        });
        const { id } = await new JobClient(storage).enqueue(work, { n: 2 }, { runAt });
        expect((await storage.jobs.find(id))?.runAt).to.deep.equal(runAt);
        if ('pool' in options()) for (let n = 0; n < 2; n++) await pool.query('discard all');
      });
    }
  });

describe('A caller’s transaction on a database with odd settings', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: pg.Client;

  before(async () => {
    database = await createOddDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new pg.Client(database.url);
    await client.connect();
  });

  after(async () => {
    await client.end();
    await storage.close();
    await database.drop();
  });

  afterEach(() => client.query('rollback'));

  const drivers: Readonly<Record<string, () => TransactionClient>> = {
    'a client of pg': () => client,
    'another driver': () => ({ query: (text, values) => client.query(text, values) }),
  };

  for (const [driver, transactionOf] of Object.entries(drivers)) {
    it(`stores and returns the same as in any other session, with ${driver}`, async () => {
      const transaction = transactionOf();
      const jobs = new JobClient(storage);
      const queue = newId();
      const runAt = new Date('2040-05-06T07:08:09.123Z');
      await client.query('begin isolation level read committed');
      const later = await jobs.enqueue(work, { n: 1 }, { transaction, queue, runAt, tags: ['a', 'b'] });
      const urgent = await jobs.enqueue(work, { n: 2 }, { transaction, queue, priority: 7 });
      const keyed = await jobs.enqueue(work, { n: 3 }, { transaction, queue, unique: { key: 'k' } });
      const again = await jobs.enqueue(work, { n: 4 }, { transaction, queue, unique: { key: 'k' } });
      const many = await jobs.enqueueMany([{ definition: work, args: { n: 5 } }], transaction);
      expect(again.id).to.equal(keyed.id);
      expect((await storage.jobs.find(later.id, transaction))?.runAt).to.deep.equal(runAt);
      await storage.queues.pause(queue, { transaction, reason: 'C:\\temp' });
      const paused = await storage.queues.find(queue, transaction);
      expect(paused?.pauseReason).to.equal('C:\\temp');
      expect(Number(paused?.pausedAt)).to.be.greaterThan(Date.parse('2020-01-01'));
      await storage.control.cancel(urgent.id, { transaction });
      await client.query('commit');
      expect(await storage.jobs.find(later.id)).to.deep.include({
        runAt,
        tags: ['a', 'b'],
        state: 'scheduled',
      });
      expect(await storage.jobs.find(urgent.id)).to.deep.include({ priority: 7, state: 'cancelled' });
      expect((await storage.jobs.find(many[0]?.id ?? ''))?.state).to.equal('enqueued');
    });

    it(`stores texts as they are, whatever encoding the session declares, with ${driver}`, async () => {
      const transaction = transactionOf();
      await client.query('begin isolation level read committed');
      await client.query("set local client_encoding = 'LATIN1'");
      const tags = ['ünïcödé €'];
      const { id } = await new JobClient(storage).enqueue(work, { n: 1 }, { transaction, tags });
      expect((await storage.jobs.find(id, transaction))?.tags).to.deep.equal(tags);
      const { rows } = await client.query<{ client_encoding: string }>('show client_encoding');
      expect(rows[0]?.client_encoding).to.equal('LATIN1');
      await client.query('commit');
      expect((await storage.jobs.find(id))?.tags).to.deep.equal(tags);
    });

    it(`keeps its settings, with ${driver}`, async () => {
      const transaction = transactionOf();
      await client.query('begin isolation level read committed');
      await client.query("set local datestyle = 'SQL, YMD'");
      const before = await settingsOf(client);
      await new JobClient(storage).enqueue(work, { n: 1 }, { transaction });
      expect(await settingsOf(client)).to.deep.equal(before);
    });
  }

  it('can go on after an error of the storage in a savepoint, with its own settings', async () => {
    await client.query('begin isolation level read committed');
    const before = await settingsOf(client);
    await client.query('savepoint mine');
    const error: unknown = await storage.recurring
      .add({ id: 'x', cron: '* * * * *' } as never, { transaction: client })
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    await client.query('rollback to savepoint mine');
    expect(await settingsOf(client)).to.deep.equal(before);
  });

  it('enqueues with SQL as in any other session', async () => {
    const { rows } = await client.query<{ id: string }>(
      `select longshore.enqueue('work', '{"n": 1}', 'sql', 3, unique_key => 'k', run_at => '2040-05-06T07:08:09Z') as id`,
    );
    const again = await client.query<{ id: string }>(
      `select longshore.enqueue('work', '{"n": 1}', 'sql', 3, unique_key => 'k') as id`,
    );
    expect(again.rows).to.deep.equal(rows);
    const job = await storage.jobs.find(rows[0]?.id ?? '');
    expect(job).to.deep.include({ priority: 3, queue: 'sql', runAt: new Date('2040-05-06T07:08:09Z') });
    expect(Number(job?.createdAt)).to.be.greaterThan(Date.parse('2020-01-01'));
  });
});
