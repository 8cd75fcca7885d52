import { defineJob, JobClient, RecurringClient, TooManyQueuesError } from '@longshore/jobs';
import { idleQueueDays } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { Database } from '../src/connection/database.js';
import { PostgresStorage } from '../src/index.js';
import { databaseOptions } from '../src/connection/options.js';
import { retireIdleQueues, returnQueues } from '../src/control/queues.sql.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

describe('Retired queues on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  /** Simulates the storage of another process. */
  let other: PostgresStorage;
  let direct: Database;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, maxQueues: 3 });
    other = new PostgresStorage({ url: database.url, ...patientStorage, maxQueues: 3 });
    direct = new Database(databaseOptions({ url: database.url, ...patientStorage }));
    await Promise.all([storage.open(), other.open()]);
  });

  afterEach(async () => {
    await Promise.all([storage.close(), other.close(), direct.close()]);
    await database.drop();
  });

  /** Creates a queue that both processes have used and whose jobs are all cancelled. Returns the name. */
  async function idleQueue(queue: string): Promise<string> {
    for (const process of [storage, other]) {
      const { id } = await new JobClient(process).enqueue(work, {}, { queue });
      await process.control.cancel(id);
    }
    return queue;
  }

  const rowOf = async (
    queue: string,
  ): Promise<{ id: number; retired: boolean; idle: boolean } | undefined> => {
    const rows = await database.query<{ id: number; retired: boolean; idle: boolean }>(
      `select id, retired_at is not null as retired, idle_since is not null as idle from longshore.queue where name = $1`,
      [queue],
    );
    return rows[0];
  };

  const listedNames = async (): Promise<string[]> => (await storage.queues.list()).map(({ name }) => name);

  const retireIdle = (): Promise<unknown> => direct.query(retireIdleQueues, [idleQueueDays]);

  /** Retires idle queues now, and again as if `days` days had passed. */
  async function pass(days: number): Promise<void> {
    await retireIdle();
    await database.query(`update longshore.queue set idle_since = idle_since - $1 * interval '1 day'`, [
      days,
    ]);
    await retireIdle();
  }

  it('keep their numbers', async () => {
    const before = await rowOf(await idleQueue('mail'));
    await storage.queues.delete('mail');
    await new JobClient(storage).enqueue(work, {}, { queue: 'mail' });
    expect((await rowOf('mail'))?.id).to.equal(before?.id);
  });

  it('are listed again as soon as a process that does not know of it enqueues', async () => {
    await idleQueue('mail');
    await storage.queues.delete('mail');
    const { id } = await new JobClient(other).enqueue(work, {}, { queue: 'mail' });
    expect(await listedNames()).to.deep.equal(['mail']);
    expect(await storage.jobs.find(id)).to.include({ queue: 'mail', state: 'enqueued' });
  });

  it('are listed again, and their jobs claimed, when a transaction commits that had enqueued before', async () => {
    await idleQueue('mail');
    const connection = new pg.Client(database.url);
    await connection.connect();
    try {
      await connection.query('begin');
      const options = { queue: 'mail', transaction: connection };
      const { id } = await new JobClient(other).enqueue(work, {}, options);
      expect(await storage.queues.delete('mail')).to.equal('deleted');
      expect(await listedNames()).to.deep.equal([]);
      await connection.query('commit');
      expect(await listedNames()).to.deep.equal(['mail']);
      const server = await storage.servers.register({
        host: 'x',
        pid: 1,
        queues: ['mail'],
        concurrency: 1,
        timeoutMs: 3_600_000,
      });
      const claimed = await storage.claims.claim({
        serverId: server.id,
        queue: 'mail',
        limit: 1,
        leaseMs: 3_600_000,
      });
      await server.unregister();
      expect(claimed.map(({ claim }) => claim.jobId)).to.deep.equal([id]);
    } finally {
      await connection.end();
    }
  });

  it('count again once housekeeping has seen that they hold jobs', async () => {
    await idleQueue('mail');
    await storage.queues.delete('mail');
    await new JobClient(other).enqueue(work, {}, { queue: 'mail' });
    await storage.maintenance.maintain();
    expect(await rowOf('mail')).to.include({ retired: false });
  });

  it('count again once housekeeping has seen that a server consumes them', async () => {
    await idleQueue('mail');
    await storage.queues.delete('mail');
    const description = { host: 'x', pid: 1, queues: ['mail'], concurrency: 1, timeoutMs: 3_600_000 };
    const server = await other.servers.register(description);
    await direct.query(returnQueues);
    expect(await rowOf('mail')).to.include({ retired: false });
    await server.unregister();
  });

  it('stay retired while nothing uses them', async () => {
    await idleQueue('mail');
    await storage.queues.delete('mail');
    await storage.maintenance.maintain();
    await direct.query(returnQueues);
    expect(await rowOf('mail')).to.include({ retired: true });
  });

  it('free a place for others, and need one to return in a process that does not know of it', async () => {
    for (const queue of ['a', 'b', 'c']) await idleQueue(queue);
    const enqueue = (process: PostgresStorage, queue: string): Promise<unknown> =>
      new JobClient(process).enqueue(work, {}, { queue }).catch((error: unknown) => error);
    expect(await enqueue(storage, 'd')).to.be.instanceOf(TooManyQueuesError);
    await storage.queues.delete('a');
    expect(await enqueue(storage, 'd')).to.include({ created: true });
    const third = new PostgresStorage({ url: database.url, ...patientStorage, maxQueues: 3 });
    expect(await enqueue(third, 'a')).to.be.instanceOf(TooManyQueuesError);
    await third.close();
  });

  it('were idle for 30 days', async () => {
    await idleQueue('mail');
    await pass(29.9);
    expect(await listedNames()).to.deep.equal(['mail']);
    await pass(0.2);
    expect(await listedNames()).to.deep.equal([]);
  });

  const uses: Readonly<Record<string, () => Promise<unknown>>> = {
    'holds jobs': () => new JobClient(storage).enqueue(work, {}, { queue: 'mail' }),
    'is served': () =>
      storage.servers.register({ host: 'x', pid: 1, queues: ['mail'], concurrency: 1, timeoutMs: 3_600_000 }),
    'is paused': () => storage.queues.pause('mail'),
    'is limited': () => storage.queues.limit('mail', { concurrencyLimit: 1 }),
    'has a rate limit': () => storage.queues.limit('mail', { rateLimit: { jobs: 1, periodMs: 1_000 } }),
    'is named by a recurring job': () =>
      new RecurringClient(storage.recurring).addOrUpdate({
        id: 'nightly',
        definition: defineJob({ name: 'work', queue: 'mail' }),
        args: {},
        cron: '0 0 * * *',
      }),
  };
  for (const [how, use] of Object.entries(uses)) {
    it(`do not include one that ${how}`, async () => {
      await idleQueue('mail');
      await use();
      await pass(100);
      expect(await listedNames()).to.deep.equal(['mail']);
    });
  }

  it('are idle from the end of a job that ran between two checks', async () => {
    await idleQueue('mail');
    await retireIdle();
    await database.query(`update longshore.queue set idle_since = idle_since - interval '31 days'`);
    await database.query(
      `insert into longshore.throughput (queue_id, at, done, failed) select id, now(), 1, 0 from longshore.queue`,
    );
    await retireIdle();
    expect(await rowOf('mail')).to.include({ retired: false, idle: false });
  });
});
