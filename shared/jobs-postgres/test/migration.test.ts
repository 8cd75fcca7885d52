import { createTestDatabase, eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';

/** Key of the advisory lock that node-pg-migrate takes so that only one process migrates at a time. */
const migrationLock = '7241865325823964';

/** Last migration of the first release. All tables are empty when this migration or an earlier one is applied. */
const lastOfFirstRelease = '010_redaction.sql';

/** Returns the tables that a migration indexes but does not create. */
function indexedFromBefore(sql: string): string[] {
  const tablesIn = (pattern: RegExp): string[] => [...sql.matchAll(pattern)].map(([, table = '']) => table);
  const made = tablesIn(/\bcreate table (?:if not exists )?(?:longshore\.)?(\w+)/gi);
  const indexed = tablesIn(/\bcreate (?:unique )?index\b[^;]*?\bon (?:only )?(?:longshore\.)?(\w+)/gi);
  return indexed.filter((table) => !made.includes(table));
}

describe('Opening a Postgres storage', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    await database.drop();
  });

  it('creates everything in an empty database, twenty times concurrently', async () => {
    const storages = Array.from(
      { length: 20 },
      () => new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 2 }),
    );
    const results = await Promise.allSettled(storages.map((storage) => storage.open()));
    await Promise.all(storages.map((storage) => storage.close()));
    expect(results.filter(({ status }) => status === 'rejected')).to.deep.equal([]);
  });

  it('applies each migration once', async () => {
    for (let time = 0; time < 2; time++) {
      const storage = new PostgresStorage({ url: database.url, ...patientStorage });
      await storage.open();
      await storage.close();
    }
    const rows = await database.query<{ name: string }>('select name from longshore.migration');
    const files = await readdir(new URL('../migrations', import.meta.url));
    expect(rows.map(({ name }) => `${name}.sql`)).to.have.members(files);
  });

  it('reports that the database was unavailable if its connection breaks', async () => {
    const lock = new pg.Client(database.url);
    await lock.connect();
    await lock.query('select pg_advisory_lock($1)', [migrationLock]);
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    const opened = storage.open().catch((error: unknown) => error);
    const ended = async (): Promise<boolean> => {
      const waiting = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ~ '^select pg_try_advisory_lock'`;
      return (await database.query(waiting)).length > 0;
    };
    await eventually(ended);
    expect(await opened).to.be.instanceOf(StorageUnavailableError);
    await lock.end();
    await storage.close();
  });

  it('numbers the migrations without gaps or duplicates', async () => {
    const files = await readdir(new URL('../migrations', import.meta.url));
    const numbers = files.map((file) => Number(file.slice(0, 3))).toSorted((one, other) => one - other);
    expect(numbers).to.deep.equal(files.map((_, place) => place + 1));
  });

  it('creates no index directly on a table that may be large by then', async () => {
    const directory = new URL('../migrations/', import.meta.url);
    const later = (await readdir(directory)).filter((file) => file > lastOfFirstRelease);
    for (const file of later)
      expect(indexedFromBefore(await readFile(new URL(file, directory), 'utf8')), file).to.deep.equal([]);
  });

  it('distinguishes an index on an existing table from one on a new table', () => {
    const sql =
      'create table fresh (a int);\ncreate index on fresh (a);\nCREATE UNIQUE INDEX x\n ON longshore.job (name);';
    expect(indexedFromBefore(sql)).to.deep.equal(['job']);
  });

  it('keeps existing jobs', async () => {
    const first = new PostgresStorage({ url: database.url, ...patientStorage });
    await first.open();
    const { id } = await new JobClient(first).enqueue(defineJob({ name: 'stay' }), {});
    await first.close();
    const second = new PostgresStorage({ url: database.url, ...patientStorage });
    await second.open();
    const job = await second.jobs.find(id);
    await second.close();
    expect(job?.name).to.equal('stay');
  });

  it('creates tables that could be distributed by queue (docs/adr/025)', async () => {
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await storage.close();
    const obstacles = await database.query<{ name: string }>(
      `select distinct part.relname as name
       from pg_class as part
       join pg_attribute as queue on queue.attrelid = part.oid and attname = 'queue_id'
       left join pg_index on indrelid = part.oid and indisunique
       where relnamespace = 'longshore'::regnamespace and relkind in ('r', 'p')
         and relname !~ '^(moved_job|job_dependency|outbox|set_aside)$'
         and (relkind = 'p' and relispartition or indkey[0] <> queue.attnum)`,
    );
    expect(obstacles).to.deep.equal([]);
  });

  it('creates the history partitions of the coming week', async () => {
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await storage.close();
    const [row] = await database.query<{ ahead: boolean }>(
      `select to_regclass('longshore.job_history_failed_' || to_char((now() at time zone 'UTC')::date + 7, 'YYYYMMDD')) is not null as ahead`,
    );
    expect(row?.ahead).to.equal(true);
  });
});
