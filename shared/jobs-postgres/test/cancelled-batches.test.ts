import { defineJob, JobClient, type JobStorage } from '@longshore/jobs';
import type { ServerRegistration } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });
const hourMs = 3_600_000;

describe('A batch that is cancelled', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let server: ServerRegistration;
  let other: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    other = new pg.Client(database.url);
    await other.connect();
    server = await storage.servers.register({
      host: 'h',
      pid: 1,
      queues: ['first', 'second'],
      concurrency: 10,
      timeoutMs: hourMs,
    });
  });

  after(async () => {
    await server.unregister();
    await other.end();
    await storage.close();
    await database.drop();
  });

  const claimFirst = async () => {
    const [job] = await storage.claims.claim({
      serverId: server.id,
      queue: 'first',
      limit: 1,
      leaseMs: hourMs,
    });
    if (job === undefined) throw new Error('nothing was claimed');
    return job.claim;
  };

  /** Cancels the batch while one of its jobs is locked, and meanwhile does something else. */
  async function cancelWhile(batchId: string, locked: string, act: () => Promise<unknown>): Promise<void> {
    await other.query('begin');
    await other.query('select from longshore.job where id = $1 for update', [locked]);
    const cancelled = (storage as JobStorage).batches.cancel(batchId);
    await eventually(
      () =>
        database.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length > 0,
    );
    await act();
    await other.query('rollback');
    await cancelled;
  }

  it('takes along a job that goes back to its queue at the same time', async () => {
    const order = { definition: work, args: {}, options: { queue: 'first' } };
    const { id, jobs } = await new JobClient(storage).enqueueBatch({ jobs: [order, order] });
    const claim = await claimFirst();
    const ready = jobs.find((job) => job.id !== claim.jobId)?.id ?? '';
    const error = { name: 'Error', message: 'x', stack: null };
    await cancelWhile(id, ready, () =>
      storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 0 }, hasMeta: true }]),
    );
    const states = await Promise.all(jobs.map(async (job) => (await storage.jobs.find(job.id))?.state));
    expect(states).to.deep.equal(['cancelled', 'cancelled']);
  });
});
