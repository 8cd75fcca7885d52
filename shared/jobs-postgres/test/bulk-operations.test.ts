import { defineJob, JobClient, type JobStorage } from '@longshore/jobs';
import type { BulkOperation } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { deleteOldBulk } from '../src/records/bulk-operations.sql.js';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

describe('Bulk operations on Postgres', () => {
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

  const fill = (jobs: number): Promise<unknown> =>
    new JobClient(storage).enqueueMany(Array.from({ length: jobs }, () => ({ definition: work, args: {} })));
  const carriedOut = async (by: JobStorage, id: string): Promise<BulkOperation | null> => {
    while (await by.bulk.advance());
    return storage.bulk.find(id);
  };

  /** Stores an operation that ended 31 days ago and records that it changed `jobs` jobs. */
  const recordOld = async (jobs: number): Promise<void> => {
    const id = '00000000-0000-7000-8000-000000000001';
    await database.query(
      `insert into longshore.bulk_operation (id, action, filter, state, finished_at) values ($1, 'retry', '{}', 'done', now() - interval '31 days')`,
      [id],
    );
    await database.query(
      'insert into longshore.bulk_operation_job select $1, gen_random_uuid() from generate_series(1, $2::integer)',
      [id, jobs],
    );
  };
  const recorded = (): Promise<unknown[]> =>
    database.query(
      'select (select count(*) from longshore.bulk_operation)::integer as operations, (select count(*) from longshore.bulk_operation_job)::integer as jobs',
    );

  it('continue where a server stopped', async () => {
    await fill(3_500);
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { state: ['enqueued'] } });
    const first = new PostgresStorage({ url: database.url, ...patientStorage });
    while (((await storage.bulk.find(id))?.changed ?? 0) < 2_000) await first.bulk.advance();
    await first.close();
    expect(await carriedOut(storage, id)).to.include({ state: 'done', changed: 3_500, skipped: 0 });
  });

  it('are deleted after 30 days, with all the jobs they recorded', async () => {
    await recordOld(12_000);
    // The trigger rejects statements that delete more than 10,000 rows, because these could take too long.
    await database.query(`
      create function longshore.bound() returns trigger language plpgsql as $$
      begin
        if (select count(*) from gone) > 10000 then raise 'too many'; end if;
        return null;
      end $$`);
    await database.query(
      'create trigger bound after delete on longshore.bulk_operation_job referencing old table as gone for each statement execute function longshore.bound()',
    );
    await storage.maintenance.maintain();
    expect(await recorded()).to.deep.equal([{ operations: 0, jobs: 0 }]);
  });

  it('are deleted with all the jobs they recorded even if two servers begin at once', async () => {
    await recordOld(12_000);
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('begin');
    await client.query(deleteOldBulk.text, [10_000]);
    const other = storage.maintenance.maintain();
    let isDone = false;
    void other.finally(() => (isDone = true)).catch(() => undefined);
    await eventually(async () => isDone || (await database.waitingForLocks()) > 0);
    await client.query('commit');
    await other;
    while ((await client.query<{ more: boolean }>(deleteOldBulk.text, [10_000])).rows[0]?.more === true);
    await client.end();
    expect(await recorded()).to.deep.equal([{ operations: 0, jobs: 0 }]);
  });

  it('run once, however many servers work on them', async () => {
    await fill(5_000);
    const orders = [1, 2, 3].map(() =>
      storage.bulk.start({ action: 'cancel', filter: { state: ['enqueued'] } }),
    );
    const started = await Promise.all(orders);
    const servers = Array.from(
      { length: 3 },
      () => new PostgresStorage({ url: database.url, ...patientStorage }),
    );
    await Promise.all(servers.map((server) => carriedOut(server, '')));
    await Promise.all(servers.map((server) => server.close()));
    const ended = await Promise.all(started.map(({ id }) => carriedOut(storage, id)));
    expect(ended.map((operation) => operation?.state)).to.deep.equal(['done', 'done', 'done']);
    expect(ended.reduce((sum, operation) => sum + (operation?.changed ?? 0), 0)).to.equal(5_000);
    expect(await storage.jobs.stateCounts()).to.include({ enqueued: 0, cancelled: 5_000 });
  });

  it('lose nothing when a connection breaks within a chunk', async () => {
    await fill(3_500);
    const { id } = await storage.bulk.start({ action: 'cancel', filter: { state: ['enqueued'] } });
    const advancing = storage.bulk.advance().catch(() => false);
    await database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await advancing;
    await storage.close();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    expect(await carriedOut(storage, id)).to.include({ state: 'done', changed: 3_500 });
    expect(await storage.jobs.stateCounts()).to.include({ enqueued: 0, cancelled: 3_500 });
  });

  for (const filter of ['{"createdAfter":"never"}', '{"createdBefore":"never"}', '["all"]', '{}']) {
    it(`fail with a reason and change nothing if their filter is invalid: ${filter}`, async () => {
      await fill(1);
      const { id } = await storage.bulk.start({ action: 'cancel', filter: { state: ['enqueued'] } });
      await database.query(`update longshore.bulk_operation set filter = '${filter}'`);
      const operation = await carriedOut(storage, id);
      expect(operation).to.include({ state: 'failed', changed: 0 });
      expect(operation?.error).to.match(/^RangeError: /);
    });
  }

  it('finish immediately if no queue of their filter exists', async () => {
    const { id } = await storage.bulk.start({ action: 'delete', filter: { queue: ['nowhere'] } });
    expect(await carriedOut(storage, id)).to.include({ state: 'done', seen: 0 });
  });
});
