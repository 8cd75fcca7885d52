import { newId } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('An expired lease locked by its handler’s transaction', () => {
  const query = { expiredForMs: 0, limit: 10 };
  let database: TestDatabase;
  let storage: PostgresStorage;
  let handler: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    handler = new pg.Client(database.url);
    await handler.connect();
  });

  after(async () => {
    await handler.end();
    await storage.close();
    await database.drop();
  });

  it('is shown as locked, and not as stalled, until the transaction ends', async () => {
    const id = newId();
    await storage.enqueuer.enqueue([
      {
        id,
        name: 'work',
        queue: 'q',
        priority: 0,
        args: '{}',
        maxAttempts: 3,
        due: null,
      },
    ]);
    const server = { host: 'h', pid: 1, queues: ['q'], concurrency: 1, timeoutMs: 3_600_000 };
    const { id: serverId } = await storage.servers.register(server);
    await storage.claims.claim({ serverId, queue: 'q', limit: 1, leaseMs: 1 });
    await eventually(
      () => storage.leases.listStalled(query),
      (stalled) => stalled.length === 1,
    );

    await handler.query('begin');
    await handler.query('select from longshore.job where id = $1 for update', [id]);
    expect(await storage.leases.find({ id, queue: 'q' })).to.include({ locked: true });
    expect(await storage.leases.listStalled(query)).to.deep.equal([]);

    await handler.query('rollback');
    expect(await storage.leases.find({ id, queue: 'q' })).to.include({ locked: false });
    expect(await storage.leases.listStalled(query)).to.have.lengthOf(1);
  });
});
