import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { blockUntil } from './support/blocked-thread.js';
import { createStoreDatabase } from './support/store-database.js';

/** Server timeout, in milliseconds: the least that a server accepts. Its heartbeats are sent at a third of it. */
const serverTimeoutMs = 5_000;

describe('A server whose handler blocks the event loop', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('sends heartbeats beyond its timeout, and the job runs once', async () => {
    const blocking = defineJob({ name: 'blocking' });
    let runs = 0;
    const handler = handleJob(blocking, () => {
      runs++;
      blockUntil(
        database.url,
        `select from longshore.server where heartbeat_at > $1::timestamptz + $2::integer * interval '1 millisecond'`,
        [serverTimeoutMs],
      );
    });
    const server = new JobServer({ storage, handlers: [handler], ...patientServer, serverTimeoutMs });
    await server.start();
    // Nobody declares it dead if a busy machine makes its heartbeats late.
    await database.query('update longshore.server set timeout_ms = $1', [patientServer.serverTimeoutMs]);
    const { id } = await new JobClient(storage).enqueue(blocking, {});
    await eventually(
      () => storage.jobs.find(id),
      (job) => job?.state === 'done' || job?.state === 'failed',
    );
    await server.stop();
    expect(runs).to.equal(1);
    expect((await storage.jobs.listAttempts(id)).map(({ outcome }) => outcome)).to.deep.equal(['done']);
  });
});
