import { defineJob, JobClient } from '@longshore/jobs';
import { maxListedTransitions } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const planted = 100_000;

describe('A job with 100 000 recorded transitions', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let id: string;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const job = defineJob<{ n: number }>({ name: 'work', queue: 'mail' });
    ({ id } = await new JobClient(storage).enqueue(job, { n: 1 }));
    const connection = new pg.Client(database.url);
    await connection.connect();
    await connection.query(
      `insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, created_at + n * interval '1 ms', -1, 0, created_at + n * interval '1 ms', 'snoozed',
        jsonb_build_object('startedAt', created_at + (n - 1) * interval '1 ms', 'n', n)
      from longshore.job cross join generate_series(1, ${planted}) as n where id = $1`,
      [id],
    );
    await connection.end();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('is listed with its creation and its newest transitions, with the numbers that they have in a longer list', async () => {
    const listed = await storage.reports.listTransitions(id);
    expect(listed).to.have.length(maxListedTransitions);
    expect(listed[0]).to.include({ number: 1, reason: 'created' });
    const job = await storage.jobs.find(id);
    const newest = listed.findLast(({ reason }) => reason === 'snoozed');
    expect(newest?.at.getTime()).to.equal((job?.createdAt.getTime() ?? 0) + planted);
    const few = await storage.reports.listTransitions(id, 10);
    expect(few).to.deep.equal([listed[0], ...listed.slice(-9)]);
  });
});
