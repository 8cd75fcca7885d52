import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { eventually, patientStorage, TcpProxy, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../../src/index.js';
import { createStoreDatabase } from '../support/store-database.js';
import { type PgBouncer, startPgBouncer } from './pgbouncer.js';

const work = defineJob({ name: 'work' });

describe('A Postgres that stops answering pgbouncer', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let pooler: PgBouncer;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    proxy = await TcpProxy.start(Number(new URL(database.url).port));
    pooler = await startPgBouncer(proxy.urlOf(database.url));
    storage = new PostgresStorage({
      url: pooler.urlOf(database.url),
      directUrl: database.url,
      pooler: 'transaction',
      ...patientStorage,
      silenceTimeoutMs: 500,
    });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await pooler.stop();
    await proxy.close();
    await database.drop();
  });

  it('makes calls fail although pgbouncer goes on accepting connections, until it answers again', async () => {
    const client = new JobClient(storage);
    await client.enqueue(work);
    proxy.freeze();
    const error: unknown = await client.enqueue(work).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(String(error)).to.include('has not responded');
    proxy.thaw();
    await eventually(() => client.enqueue(work));
  });
});
