import { defineJob, JobClient } from '@longshore/jobs';
import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../../src/index.js';

const work = defineJob({ name: 'work', queue: 'work' });

describe('On Citus, a unique key that an open transaction has taken', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let connection: pg.Client;

  before(async () => {
    database = await createCitusDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, distribution: 'citus' });
    connection = new pg.Client({ connectionString: database.url, application_name: 'test-support' });
    await Promise.all([storage.open(), connection.connect()]);
  });
  after(async () => {
    await connection.end();
    await storage.close();
    await database.drop();
  });

  it('does not block concurrent callers with other keys', async () => {
    const client = new JobClient(storage);
    const enqueue = (key: string): ReturnType<typeof client.enqueue> =>
      client.enqueue(work, {}, { unique: { key } });
    await connection.query('begin');
    await client.enqueue(work, {}, { unique: { key: 'taken' }, transaction: connection });
    const blocked = [1, 2, 3].map(() => enqueue('taken'));
    const others = await Promise.all(Array.from({ length: 30 }, (_, n) => enqueue(`other ${n}`)));
    expect(others.every(({ created }) => created)).to.equal(true);
    await connection.query('commit');
    expect((await Promise.all(blocked)).some(({ created }) => created)).to.equal(false);
  });
});
