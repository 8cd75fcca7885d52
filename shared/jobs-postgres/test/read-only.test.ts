import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import type { Claim } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';
import { renewConnections } from '../src/connection/pool.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A database that accepts only reads', () => {
  const work = defineJob({ name: 'work' });
  let database: TestDatabase;
  let storage: PostgresStorage;
  let id = '';
  let claim: Claim;

  before(async () => {
    database = await createStoreDatabase();
    const former = new PostgresStorage({ url: database.url, ...patientStorage });
    await former.open();
    ({ id } = await new JobClient(former).enqueue(work));
    const server = { host: 'x', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
    const { id: serverId } = await former.servers.register(server);
    const [claimed] = await former.claims.claim({ serverId, queue: 'default', limit: 1, leaseMs: 3_600_000 });
    if (claimed === undefined) throw new Error('nothing was claimed');
    claim = claimed.claim;
    await former.close();
    await database.query(`alter database ${database.name} set default_transaction_read_only = on`);
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const failsAsReadOnly = async (write: Promise<unknown>): Promise<void> => {
    const error = await write.then(
      () => 'succeeded',
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(String(error)).to.include('accepts only reads').and.include('25006');
  };

  it('makes enqueuing fail as unavailable', async () => {
    await failsAsReadOnly(new JobClient(storage).enqueue(work));
  });

  it('makes an operator’s actions fail as unavailable', async () => {
    await failsAsReadOnly(storage.control.cancel(id));
    await failsAsReadOnly(storage.queues.pause('default'));
  });

  it('makes the transaction of a handler fail as unavailable', async () => {
    await failsAsReadOnly(storage.completions.completeInTransaction(claim, () => Promise.resolve('')));
  });

  it('is not ready', async () => {
    await failsAsReadOnly(storage.ping());
    const application = createApplicationDatabase({ url: database.url, ...patientStorage });
    await failsAsReadOnly(application.ping());
    await application.close();
  });

  it('is found again as soon as it accepts writes, however many connections were open', async () => {
    await Promise.all(Array.from({ length: 4 }, () => storage.control.cancellations([claim])));
    await failsAsReadOnly(new JobClient(storage).enqueue(work));
    const administrator = new pg.Client({
      connectionString: database.url,
      options: '-c default_transaction_read_only=off',
    });
    await administrator.connect();
    await administrator.query(`alter database ${database.name} reset default_transaction_read_only`);
    await administrator.end();
    const { id: next } = await new JobClient(storage).enqueue(work);
    expect((await storage.jobs.find(next))?.state).to.equal('enqueued');
  });

  it('is found again by a call whose connection was opened before that', async () => {
    await database.query(`alter database ${database.name} set default_transaction_read_only = on`);
    const other = new PostgresStorage({ url: database.url, ...patientStorage });
    await other.control.cancellations([claim]);
    await database.query(
      `begin read write; alter database ${database.name} reset default_transaction_read_only; commit`,
    );
    const { id: next } = await new JobClient(other).enqueue(work);
    expect((await other.jobs.find(next))?.state).to.equal('enqueued');
    await other.close();
  });
});

describe('The connections of a pool that are renewed', () => {
  it('are closed at once if they are idle, and when they are returned if they are in use', async () => {
    const database = await createStoreDatabase();
    const application = createApplicationDatabase({ url: database.url, ...patientStorage });
    const { pool } = application;
    const [used, idle] = [await pool.connect(), await pool.connect()];
    idle.release();
    renewConnections(pool);
    expect(pool.totalCount).to.equal(1);
    used.release();
    expect(pool.totalCount).to.equal(0);
    expect((await pool.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await application.close();
    await database.drop();
  });
});
