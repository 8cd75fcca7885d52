import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'limited' });

describe('Queue limits on Postgres', () => {
  let database: TestDatabase;
  let storages: PostgresStorage[];

  beforeEach(async () => {
    database = await createStoreDatabase();
    storages = Array.from(
      { length: 3 },
      () => new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 4 }),
    );
    for (const storage of storages) await storage.open();
  });

  afterEach(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await database.drop();
  });

  const first = (): PostgresStorage =>
    storages[0] ?? new PostgresStorage({ url: database.url, ...patientStorage });

  /**
   * Enqueues `jobs` jobs, and runs one server per storage until all jobs have been handled. The handler calls `run`.
   */
  async function runAll(jobs: number, run: () => Promise<void> = async () => undefined): Promise<void> {
    let ended = 0;
    const handler = handleJob(work, async () => {
      await run();
      ended++;
    });
    const servers = storages.map(
      (storage) =>
        new JobServer({
          storage,
          ...patientServer,
          handlers: [handler],
          queues: ['limited'],
          concurrency: 10,
        }),
    );
    await Promise.all(servers.map((server) => server.start()));
    try {
      await new JobClient(first()).enqueueMany(
        Array.from({ length: jobs }, () => ({ definition: work, args: {} })),
      );
      await eventually(
        () => ended,
        (count) => count === jobs,
      );
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  }

  /** Runs jobs that do not end before `limit` of them run at once, and returns how many ran at once at most. */
  async function mostAtOnce(jobs: number, limit: number): Promise<number> {
    let [running, most] = [0, 0];
    await runAll(jobs, async () => {
      most = Math.max(most, ++running);
      await eventually(() => most >= limit);
      await first().readClock();
      running--;
    });
    return most;
  }

  it('never exceed the concurrency limit across several storages', async () => {
    await first().queues.limit('limited', { concurrencyLimit: 4 });
    expect(await mostAtOnce(500, 4)).to.equal(4);
  });

  it('never exceed a limit that was set by SQL', async () => {
    await database.query(`insert into longshore.queue (name, concurrency_limit) values ('limited', 3)`);
    expect(await mostAtOnce(300, 3)).to.equal(3);
    expect(await database.query('select from longshore.queue_bucket')).to.have.length(1);
  });

  it('never exceed the rate limit across several storages', async () => {
    const began = await first().readClock();
    await first().queues.limit('limited', { rateLimit: { jobs: 200, periodMs: 1_000, burst: 20 } });
    await runAll(150);
    const starts = await database.query<{ ms: number }>(
      `select (extract(epoch from started_at) * 1000)::float8 as ms from longshore.job_history_done order by started_at`,
    );
    const early = starts
      .map(({ ms }) => ms - began.getTime())
      .filter((atMs, index) => index + 1 > 20 + (atMs * 200) / 1_000);
    expect(starts).to.have.length(150);
    expect(early).to.deep.equal([]);
  });
});
