import { newId, type NewJob } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { Database } from '../src/connection/database.js';
import { PostgresStorage } from '../src/index.js';
import { PacedScan } from '../src/claim/paced-scan.js';
import { databaseOptions } from '../src/connection/options.js';
import { QueueHeads, selectHeads, selectHeadsFrom } from '../src/control/queue-heads.js';
import { buffersOf } from './support/buffers.js';
import { createStoreDatabase } from './support/store-database.js';

describe('The oldest ready jobs of the queues', () => {
  let store: TestDatabase;
  let storage: PostgresStorage;
  let database: Database;
  let heads: QueueHeads;

  beforeEach(async () => {
    store = await createStoreDatabase();
    storage = new PostgresStorage({ url: store.url, ...patientStorage });
    await storage.open();
    database = new Database(databaseOptions({ url: store.url, ...patientStorage }));
    heads = new QueueHeads(database, () => new PacedScan(-Infinity)); // only the first read starts at the head
  });

  afterEach(async () => {
    await database.close();
    await storage.close();
    await store.drop();
  });

  const enqueue = (count: number, priority = 0): Promise<unknown> =>
    storage.enqueuer.enqueue(
      Array.from({ length: count }, (): NewJob => ({
        id: newId(),
        name: 'head',
        queue: 'default',
        priority,
        args: '{}',
        maxAttempts: 1,
        due: null,
      })),
    );

  const finishAll = (): Promise<unknown> => store.query('delete from longshore.job where queue_id = 1');

  const readyAt = async (): Promise<Date | null> => {
    const [row] = await store.query<{ at: Date | null }>(
      `select date_trunc('milliseconds', min(ready_at)) as at from longshore.job where server_id is null and queue_id = 1`,
    );
    return row?.at ?? null;
  };

  it('are read from their last position, past the dead entries of finished jobs', async () => {
    const pinning = new pg.Client(store.url);
    await pinning.connect();
    await pinning.query('begin isolation level repeatable read');
    await pinning.query('select 1 from pg_class limit 1');
    await enqueue(5_000);
    await finishAll();
    await enqueue(1);
    const [head] = await store.query<{ seq: string }>('select seq from longshore.job where queue_id = 1');
    const from = [null, JSON.stringify({ 1: { 0: head?.seq } })];
    const fromHead = await buffersOf(store, selectHeads, [null]);
    const fromPlace = await buffersOf(store, selectHeadsFrom, from);
    await pinning.end();
    expect(fromHead).to.be.above(100);
    expect(fromPlace).to.be.below(25);
  });

  it('are found after those before them have finished', async () => {
    await enqueue(10);
    await heads.oldestReady(null);
    await finishAll();
    await enqueue(1);
    expect((await heads.oldestReady(null)).get(1)).to.deep.equal(await readyAt());
  });

  it('are found in a priority that is new to the queue', async () => {
    await enqueue(1);
    await heads.oldestReady(null);
    await finishAll();
    await enqueue(1, -5);
    expect((await heads.oldestReady(null)).get(1)).to.deep.equal(await readyAt());
  });

  it('are found in a queue that was empty', async () => {
    await enqueue(1);
    await finishAll();
    await heads.oldestReady(null);
    await heads.oldestReady(null);
    await enqueue(1);
    expect((await heads.oldestReady(null)).get(1)).to.deep.equal(await readyAt());
  });
});
