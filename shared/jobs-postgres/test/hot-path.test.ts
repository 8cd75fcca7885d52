import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { newId, type NewJob } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createCountingPool } from './support/examined-rows.js';
import { createStoreDatabase } from './support/store-database.js';

const scansOfJob = `select seq_scan as scans from pg_stat_all_tables where schemaname = 'longshore' and relname = 'job'`;

describe('The hot path on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  const newJobs = (count: number): NewJob[] =>
    Array.from({ length: count }, () => ({
      id: newId(),
      name: 'hot',
      queue: 'default',
      priority: 0,
      args: '{}',
      maxAttempts: 1,
      due: null,
    }));

  it('claims with heap-only updates: no index is written', async () => {
    await storage.enqueuer.enqueue(newJobs(1_000));
    const claimer = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      applicationName: 'measured',
    });
    const server = await claimer.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    await claimer.claims.claim({ serverId: server.id, queue: 'default', limit: 1_000, leaseMs: 3_600_000 });
    await claimer.close();
    await database.disconnected('measured');
    const [statistics] = await database.query<{ updated: string; hot: string }>(
      `select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_all_tables
       where schemaname = 'longshore' and relname = 'job'`,
    );
    expect(statistics).to.deep.equal({ updated: '1000', hot: '1000' });
  });

  it('scans no table, even if its statistics say that it is empty', async () => {
    await database.query('vacuum analyze longshore.job');
    const [before] = await database.query<{ scans: string }>(scansOfJob);
    const worker = new PostgresStorage({ url: database.url, ...patientStorage, applicationName: 'measured' });
    const { id: serverId } = await worker.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    await worker.enqueuer.enqueue(newJobs(2_000));
    for (let round = 0; round < 8; round++) {
      const jobs = await worker.claims.claim({ serverId, queue: 'default', limit: 200, leaseMs: 3_600_000 });
      const claims = jobs.map(({ claim }) => claim);
      await worker.claims.renew(claims, 60_000);
      await worker.completions.complete(
        claims.map((claim) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
      );
    }
    await worker.maintenance.rescue();
    await worker.close();
    await database.disconnected('measured');
    const [after] = await database.query<{ scans: string }>(scansOfJob);
    expect(after?.scans).to.equal(before?.scans);
  });

  for (const sizes of [
    { ready: 6_000, batch: 10 },
    { ready: 20_000, batch: 500 },
  ]) {
    it(`looks up exactly the ${sizes.batch} jobs it works on, even if the statistics say that there are none`, async () => {
      await database.query('vacuum analyze longshore.job');
      const { pool, most } = createCountingPool(database.url);
      const worker = new PostgresStorage({ pool, ...patientStorage });
      const { id: serverId } = await worker.servers.register({
        host: 'x',
        pid: 1,
        queues: ['default'],
        concurrency: 1,
        timeoutMs: 3_600_000,
      });
      await worker.enqueuer.enqueue(newJobs(sizes.ready));
      for (let round = 0; round < 10; round++) {
        const jobs = await worker.claims.claim({
          serverId,
          queue: 'default',
          limit: sizes.batch,
          leaseMs: 3_600_000,
        });
        expect(jobs).to.have.length(sizes.batch);
        const claims = jobs.map(({ claim }) => claim);
        await worker.claims.renew(claims, 60_000);
        await worker.completions.complete(
          claims.map((claim) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
        );
      }
      await worker.close();
      await pool.end();
      // For each job, a claim examines up to 20 rows in all parts of its plan, a renewal 13 and a completion 5.
      for (const statement of [
        /with .*set server_id/s,
        /with .*set lease_until/s,
        /delete from longshore\.job\s/,
      ])
        expect(most(statement), String(statement)).to.be.within(sizes.batch, 25 * sizes.batch);
    });
  }

  it('writes the jobs of many concurrent enqueuers in few statements', async () => {
    await Promise.all(newJobs(300).map((job) => storage.enqueuer.enqueue([job])));
    const [row] = await database.query<{ statements: number }>(
      'select count(distinct xmin::text)::integer as statements from longshore.job where queue_id > 0',
    );
    expect(row?.statements).to.be.at.most(3);
  });
});
