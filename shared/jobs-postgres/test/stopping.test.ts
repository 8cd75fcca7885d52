import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, type TestDatabase } from '@longshore/test-support';
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

  /** Resolves to the duration of a task in milliseconds. */
  const timed = async (task: Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await task;
    return performance.now() - startedAt;
  };

  it('takes a server at most its time plus six seconds, and its storage ten more', async () => {
    const storage = new PostgresStorage({ url: database.url });
    await storage.open();
    const endless = defineJob({ name: 'endless' });
    const handlers = [handleJob(endless, () => new Promise<never>(() => undefined))];
    const server = new JobServer({ storage, stopTimeoutMs: 500, handlers });
    await server.start();
    await new JobClient(storage).enqueue(endless, {});
    await eventually(async () => server.running === 1);
    // `nowait` prevents deadlocks with statements that lock these tables in another order.
    await eventually(async () => {
      await blocker.query(
        'rollback; begin; lock table longshore.job, longshore.server, longshore.queue nowait',
      );
      return true;
    });
    await eventually(async () => (await database.waitingForLocks()) > 0);
    expect(await timed(server.stop())).to.be.lessThan(500 + 6_000 + 500);
    expect(await timed(storage.close())).to.be.lessThan(10_000);
  });

  it('closes an application’s pool although a connection has not been returned', async () => {
    const application = createApplicationDatabase({ url: database.url });
    const lent = await application.pool.connect();
    const lost = lent.query('select pg_sleep(600)').catch((error: unknown) => error);
    expect(await timed(application.close())).to.be.lessThan(3_000);
    expect(await lost).to.be.instanceOf(Error);
    lent.release(true);
    await database.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where query = 'select pg_sleep(600)'`,
    );
  });
});
