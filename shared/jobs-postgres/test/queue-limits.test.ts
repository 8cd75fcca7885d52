import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'limited' });

describe('Queue limits on Postgres', () => {
  let database: TestDatabase;
  let storages: PostgresStorage[];

  beforeEach(async () => {
    database = await createStoreDatabase();
    storages = Array.from({ length: 3 }, () => new PostgresStorage({ url: database.url, poolSize: 4 }));
    for (const storage of storages) await storage.open();
  });

  afterEach(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await database.drop();
  });

  const first = (): PostgresStorage => storages[0] ?? new PostgresStorage({ url: database.url });

  /**
   * Enqueues `jobs` jobs, and runs one server per storage until all jobs have been handled. The handler calls `run`.
   */
  async function runAll(jobs: number, run: () => Promise<void>): Promise<void> {
    let ended = 0;
    const handler = handleJob(work, async () => {
      await run();
      ended++;
    });
    const servers = storages.map(
      (storage) => new JobServer({ storage, handlers: [handler], queues: ['limited'], concurrency: 10 }),
    );
    await Promise.all(servers.map((server) => server.start()));
    try {
      await new JobClient(first()).enqueueMany(
        Array.from({ length: jobs }, () => ({ definition: work, args: {} })),
      );
      await eventually(() => ended === jobs);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  }

  it('never exceed the concurrency limit across several storages', async () => {
    await first().queues.limit('limited', { concurrencyLimit: 4 });
    let [running, most] = [0, 0];
    await runAll(500, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });
    expect(most).to.equal(4);
  });

  it('never exceed a limit that was set by SQL', async () => {
    await database.query(`insert into longshore.queue (name, concurrency_limit) values ('limited', 3)`);
    let [running, most] = [0, 0];
    await runAll(300, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });
    expect(most).to.equal(3);
    expect(await database.query('select from longshore.queue_bucket')).to.have.length(1);
  });

  it('never exceed the rate limit across several storages', async () => {
    await first().queues.limit('limited', { rateLimit: { jobs: 200, periodMs: 1_000, burst: 20 } });
    const began = performance.now();
    const starts: number[] = [];
    await runAll(150, async () => {
      starts.push(performance.now() - began);
    });
    const early = starts.filter((atMs, index) => index + 1 > 20 + (atMs * 200) / 1_000 + 1);
    expect(early).to.deep.equal([]);
  });
});
