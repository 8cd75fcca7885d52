import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { dropBounds } from './support/poison.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'work' });

describe('Times of rows outside the bounds', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;
  let connection: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new JobClient(storage);
    connection = new pg.Client(database.url);
    await connection.connect();
  });

  after(async () => {
    await connection.end();
    await storage.close();
    await database.drop();
  });

  it('are read the same way inside and outside a caller’s transaction', async () => {
    const { id } = await client.enqueue(work, {}, { delayMs: 60_000 });
    await dropBounds(database, 'job_scheduled');
    await database.query(
      `update longshore.job_scheduled set run_at = 'infinity', created_at = '-infinity' where id = '${id}'`,
    );
    await connection.query('begin');
    const within = await storage.jobs.find(id, connection);
    await connection.query('rollback');
    expect(within).to.deep.equal(await storage.jobs.find(id));
    expect(within?.runAt).to.be.instanceOf(Date);
  });

  it('are returned as pg does in a handler’s own statements', async () => {
    let seen: unknown;
    const handler = handleJob(work, async ({ transaction }) => {
      await transaction(async (own) => {
        const { rows } = await own.query(`select 'infinity'::timestamptz as at, $1::integer as one`, [1]);
        [seen] = rows;
      });
    });
    const server = new JobServer({ storage, ...patientServer, handlers: [handler], queues: ['work'] });
    await server.start();
    try {
      const { id } = await client.enqueue(work, {});
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
    } finally {
      await server.stop();
    }
    expect(seen).to.deep.equal({ at: Infinity, one: 1 });
  });
});
