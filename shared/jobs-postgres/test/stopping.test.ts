import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Stopping while the database does not respond', () => {
  let database: TestDatabase;
  let blocker: pg.Client;

  beforeEach(async () => {
    database = await createStoreDatabase();
    blocker = new pg.Client(database.url);
    await blocker.connect();
  });

  afterEach(async () => {
    await blocker.end();
    await database.drop();
  });

  it('waits neither for a server’s running job nor for the database', async () => {
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const endless = defineJob({ name: 'endless' });
    const handlers = [handleJob(endless, () => new Promise<never>(() => undefined))];
    const server = new JobServer({ storage, ...patientServer, stopTimeoutMs: 500, handlers });
    await server.start();
    await new JobClient(storage).enqueue(endless, {});
    await eventually(
      () => server.running,
      (running) => running === 1,
    );
    // `nowait` prevents deadlocks with statements that lock these tables in another order.
    await eventually(async () => {
      await blocker.query(
        'rollback; begin; lock table longshore.job, longshore.server, longshore.queue nowait',
      );
      return true;
    });
    await eventually(() => database.waitingForLocks());
    await server.stop();
    await storage.close();
  });

  it('closes an application’s pool although a connection has not been returned', async () => {
    const commandBatchMaxTimeoutMs = 3_600_000;
    const application = createApplicationDatabase({
      url: database.url,
      ...patientStorage,
      commandBatchMaxTimeoutMs,
    });
    const lent = await application.pool.connect();
    const lost = lent.query('select pg_sleep(3600)').catch((error: unknown) => error);
    await application.close();
    expect(await lost).to.be.instanceOf(Error);
    lent.release(true);
    await database.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where query = 'select pg_sleep(3600)'`,
    );
  });
});
