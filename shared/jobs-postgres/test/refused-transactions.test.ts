import { defineJob, JobClient, type TransactionClient } from '@longshore/jobs';
import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { drizzleTransaction, PostgresStorage } from '../src/index.js';

describe('The transaction option', () => {
  const job = defineJob({ name: 'ship' });
  let database: TestDatabase;
  let storage: PostgresStorage;
  let pool: pg.Pool;

  before(async () => {
    database = await createTestDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    pool = new pg.Pool({ connectionString: database.url });
  });

  after(async () => {
    await pool.end();
    await storage.close();
    await database.drop();
  });

  const refusal = (transaction: TransactionClient): Promise<unknown> =>
    new JobClient(storage).enqueue(job, {}, { transaction }).then(
      () => 'enqueued',
      (error: unknown) => error,
    );

  it('rejects a pool', async () => {
    expect(await refusal(pool))
      .to.be.instanceOf(TypeError)
      .with.property('message')
      .that.contains('is a pg.Pool');
  });

  it('rejects a client outside a transaction, and accepts it within one', async () => {
    const client = await pool.connect();
    expect(await refusal(client))
      .to.have.property('message')
      .that.contains('without an open transaction');
    await client.query('begin');
    expect(await refusal(client)).to.equal('enqueued');
    await client.query('commit');
    client.release();
  });

  it('rejects the object of a library, and names the adapters', async () => {
    const objects = [{}, { query: async () => [] }] as unknown as TransactionClient[];
    for (const object of objects)
      expect(await refusal(object))
        .to.have.property('message')
        .that.contains('drizzleTransaction(tx)');
    const db = { execute: async () => [] } as unknown as Parameters<typeof drizzleTransaction>[0];
    expect(() => drizzleTransaction(db)).to.throw(TypeError, 'not an open transaction');
  });
});
