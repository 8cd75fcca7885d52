import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Logger, silentLogger, StorageUnavailableError } from '@longshore/jobs';
import { createTestDatabase, eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import {
  type ApplicationDatabase,
  createApplicationDatabase,
  type PostgresOptions,
  PostgresStorage,
} from '../src/index.js';

const first = '-- Up Migration\ncreate table book (id integer primary key);\ninsert into book values (1);\n';
const second = '-- Up Migration\nalter table book add column title text;\n';
const third = '-- Up Migration\n-- Needs: 002_title\nalter table book add column pages integer;\n';

/** The lines of a log. */
class Log implements Logger {
  readonly lines: string[] = [];
  readonly debug = (): void => undefined;
  readonly info = (_fields: object, message: string): void => void this.lines.push(message);
  readonly warn = this.info;
  readonly error = this.info;
}

describe('Migrating tables that are in use', () => {
  let database: TestDatabase;
  let directory: string;
  let log: Log;
  const opened: ApplicationDatabase[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-migrating-'));
    log = new Log();
    await migrate({ '001_book.sql': first });
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((application) => application.close()));
    await rm(directory, { recursive: true, force: true });
    await database.drop();
  });

  /** Migrates the schema `library` as a program would that has these files. */
  async function migrate(
    files: Readonly<Record<string, string>>,
    options: PostgresOptions = {},
  ): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
    const application = createApplicationDatabase({
      url: database.url,
      ...patientStorage,
      logger: log,
      ...options,
    });
    opened.push(application);
    await application.migrate({ directory: pathToFileURL(`${directory}/`), schema: 'library' });
  }

  const connect = async (name: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: database.url, application_name: name });
    await client.connect();
    return client;
  };

  it('lets others read while it waits for a reader, and names the reader', async () => {
    const reader = await connect('a long report');
    await reader.query('begin; select * from library.book');
    let migrated = false;
    const migrating = migrate({ '001_book.sql': first, '002_title.sql': second }).then(() => {
      migrated = true;
    });
    const named = await eventually(
      () => log.lines.find((line) => line.includes('a lock was not available')),
      (line) => line !== undefined,
    );
    expect(named).to.match(/waited for a long report \(pid \d+, idle in transaction, last statement began/);
    const rows = await database.query('select id from library.book');
    expect([rows, migrated]).to.deep.equal([[{ id: 1 }], false]);
    await reader.query('commit');
    await reader.end();
    await migrating;
    expect(await database.query('select title from library.book')).to.deep.equal([{ title: null }]);
  });

  it('names the process that migrates if there is one', async () => {
    const other = await connect('another deployment');
    await other.query('select pg_advisory_lock(7241865325823964)');
    const migrating = migrate({ '001_book.sql': first, '002_title.sql': second });
    await eventually(
      () => log.lines,
      (lines) =>
        lines.some((line) => line.includes('another process that migrates: another deployment (pid')),
    );
    await other.end();
    await migrating;
  });

  it('does not wait for a process that migrates if there is nothing to run', async () => {
    const other = await connect('another deployment');
    await other.query('select pg_advisory_lock(7241865325823964)');
    await migrate({ '001_book.sql': first });
    await other.end();
  });

  it('says that the tables are newer than the program, and which migrations it does not know', async () => {
    await migrate({ '001_book.sql': first, '002_title.sql': second });
    await migrate({ '001_book.sql': first });
    expect(log.lines).to.deep.equal([
      'the schema library is newer than this version, which can still use it: a newer one has run 002_title',
    ]);
  });

  it('refuses a program that does not know the migration that a newer one needs, and names both', async () => {
    await migrate({ '001_book.sql': first, '002_title.sql': second, '003_pages.sql': third });
    await migrate({ '001_book.sql': first, '002_title.sql': second });
    const refused = await migrate({ '001_book.sql': first }).catch((error: unknown) => error);
    expect(String(refused)).to.contain(
      'the migration 003_pages needs programs that know the migration 002_title',
    );
    expect(refused).not.to.be.instanceOf(StorageUnavailableError);
  });

  it('does not count a need whose migration failed', async () => {
    const broken = '-- Up Migration\n-- Needs: 002_broken\nselect * from nowhere;\n';
    const failed = await migrate({ '001_book.sql': first, '002_broken.sql': broken }).catch(String);
    expect(failed).to.contain('The migration 002_broken');
    await migrate({ '001_book.sql': first });
  });

  it('runs nothing if it is to verify, and is unavailable until somebody else has', async () => {
    const files = { '001_book.sql': first, '002_title.sql': second };
    const missing = await migrate(files, { migrate: 'verify' }).catch((error: unknown) => error);
    expect(missing).to.be.instanceOf(StorageUnavailableError);
    expect((missing as StorageUnavailableError).summary).to.equal(
      'The schema library lacks a migration: run longshore migrate',
    );
    expect(String(missing)).to.contain('002_title');
    await migrate(files);
    await migrate(files, { migrate: 'verify' });
  });

  it('verifies the tables of the jobs, and creates none', async () => {
    const storage = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      migrate: 'verify',
      logger: silentLogger,
    });
    const missing = await storage.open().catch((error: unknown) => error);
    await storage.close();
    expect(String(missing)).to.match(/The schema longshore lacks \d+ migrations: run longshore migrate/);
    expect(await database.query(`select from pg_namespace where nspname = 'longshore'`)).to.deep.equal([]);
  });
});
