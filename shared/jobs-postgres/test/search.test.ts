import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const rows = 50_000;
const work = defineJob({ name: 'work' });
const scansOfMeta = `select coalesce(sum(idx_scan), 0)::integer as scans from pg_stat_all_indexes
  where schemaname = 'longshore' and indexrelname like '%meta%'`;

describe('Searching history in Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await new JobClient(storage).enqueue(work, {});
    await database.query(`
      insert into longshore.job_history_done (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, meta)
      select 1, longshore.new_id(), now(), now(), 0, 1, 10, 'work', jsonb_build_object('n', number),
        jsonb_build_object('tags', array['tag-' || number % 10000])
      from generate_series(1, ${rows}) as number`);
    await database.query('analyze longshore.job_history_done');
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('finds the few jobs with a tag through the metadata index', async () => {
    const jobs = await storage.jobs.list({ filter: { tag: ['tag-7'] }, limit: 20 });
    expect(jobs).to.have.length(rows / 10_000);
    await storage.close();
    await database.disconnected('longshore');
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    const [row] = await database.query<{ scans: number }>(scansOfMeta);
    expect(row?.scans).to.be.above(0);
  });

  it('stops a search that takes too long, and says so', async () => {
    const locked = await createStoreDatabase();
    const lock = new pg.Client(locked.url);
    await lock.connect();
    await lock.query('begin; lock table longshore.job_history_done in access exclusive mode');
    const hurried = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      searchUrl: locked.url,
      searchTimeoutMs: 100,
    });
    try {
      const filter = { args: [{ path: ['n'], values: ['nowhere'] }] };
      const error: unknown = await hurried.jobs
        .list({ filter, limit: 20 })
        .catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(StorageUnavailableError);
      expect(String(error)).to.include('took longer than');
    } finally {
      await hurried.close();
      await lock.end();
      await locked.drop();
    }
  });
});
