import { newId, type NewJob } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const sizeOf = (table: string): string => `select pg_relation_size('longshore.${table}')::integer as bytes`;

describe('While another transaction stays open, the storage', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let serverId: string;
  let pinning: pg.Client;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const registration = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    serverId = registration.id;
    pinning = new pg.Client(database.url);
    await pinning.connect();
    await pinning.query('begin isolation level repeatable read');
    await pinning.query('select 1 from pg_class limit 1');
  });

  afterEach(async () => {
    await pinning.end();
    await storage.close();
    await database.drop();
  });

  const newJobs = (count: number): NewJob[] =>
    Array.from({ length: count }, () => ({
      id: newId(),
      name: 'pinned',
      queue: 'default',
      priority: 0,
      args: '{}',
      maxAttempts: 1,
      due: null,
    }));

  const claim = (limit = 500) =>
    storage.claims.claim({ serverId, queue: 'default', limit, leaseMs: 3_600_000 });

  async function run(count: number): Promise<void> {
    await storage.enqueuer.enqueue(newJobs(count));
    for (let left = count; left > 0;) {
      const jobs = await claim();
      await storage.completions.complete(
        jobs.map((job) => ({ claim: job.claim, outcome: { kind: 'done', result: 'null' } })),
      );
      left -= jobs.length;
    }
  }

  /**
   * Runs maintenance until a table has this size. One round may not suffice, because it skips a table that somebody else
   * has locked, for example Postgres to analyze it.
   */
  async function maintainedUntil(table: string, isSize: (bytes: number) => boolean): Promise<void> {
    await eventually(async () => {
      const server = new PostgresStorage({ url: database.url, ...patientStorage });
      await server.maintenance.maintain();
      await server.close();
      const [size] = await database.query<{ bytes: number }>(sizeOf(table));
      return size?.bytes ?? Number.NaN;
    }, isSize);
  }

  it('finds a job whose transaction committed late, after the scan cursor passed its position', async () => {
    const late = new pg.Client(database.url);
    await late.connect();
    await late.query('begin');
    await run(10); // after this, the storage has cached the queue's id
    const [job] = newJobs(1);
    if (job === undefined) throw new Error('no job');
    await storage.enqueuer.enqueue([job], late);
    await run(3_000);
    await late.query('commit');
    await late.end();
    let found: string | undefined;
    while (found === undefined) found = (await claim(1))[0]?.claim.jobId;
    expect(found).to.equal(job.id);
  });

  for (const entrance of ['enqueueMany', 'longshore.enqueue()']) {
    it(`records the position of a job from ${entrance} in a caller’s transaction as a gap`, async () => {
      const caller = new pg.Client(database.url);
      await caller.connect();
      await caller.query('begin');
      if (entrance === 'enqueueMany') await storage.enqueuer.enqueue(newJobs(3), caller);
      else await caller.query(`select longshore.enqueue('pinned') from generate_series(1, 3)`);
      await caller.query('commit');
      await caller.end();
      const [gap] = await database.query<{ places: number }>(
        'select sum(last_seq - first_seq + 1)::integer as places from longshore.scan_gap',
      );
      expect(gap?.places).to.equal(3);
    });
  }

  it('records no gap for jobs whose statement commits immediately', async () => {
    await storage.enqueuer.enqueue(newJobs(100));
    expect(await database.query('select from longshore.scan_gap')).to.have.length(0);
  });

  it('keeps the counters short and correct', async () => {
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs)
       select id, state::longshore.job_state, 1 from longshore.queue, (values ('done'), ('failed')) as ended (state), generate_series(1, 15000)
       where name = 'default'`,
    );
    const before = await storage.jobs.stateCounts();
    await maintainedUntil('job_count', (bytes) => bytes < 20_000);
    expect(await storage.jobs.stateCounts()).to.deep.equal(before);
    const [ended] = await database.query<{ done: number; failed: number }>(
      'select sum(done)::integer as done, sum(failed)::integer as failed from longshore.throughput where queue_id = 0',
    );
    expect(ended).to.deep.equal({ done: 15_000, failed: 15_000 });
  });

  it('keeps the outbox short, without losing entries', async () => {
    const insert = `insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select 1, gen_random_uuid(), 'processing', 'done', jsonb_build_object('n', n) from generate_series(1, 20000) as n`;
    await database.query(insert);
    await database.query(`delete from longshore.outbox where meta ->> 'n' <> '7'`);
    await maintainedUntil('outbox', (bytes) => bytes === 8_192);
    expect(await database.query(`select meta from longshore.outbox`)).to.deep.equal([{ meta: { n: 7 } }]);
  });

  it('waits for no lock to keep them short: a backup continues, and so do jobs', async () => {
    await pinning.query('lock table longshore.job_count in access share mode');
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs) select 1, 'done', 1 from generate_series(1, 30000)`,
    );
    const before = await storage.jobs.stateCounts();
    await storage.maintenance.maintain();
    expect(await storage.jobs.stateCounts()).to.deep.equal(before);
  });
});
