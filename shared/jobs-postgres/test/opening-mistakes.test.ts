import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { createTestDatabase, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';

const failureOf = (work: () => Promise<unknown>): Promise<Error> =>
  work().then(
    () => new Error('succeeded'),
    (error: unknown) => error as Error,
  );

describe('The error message for a storage that cannot be opened', () => {
  it('asks for a URL if there is none', () => {
    const message = 'url is empty: give postgres://user:password@host:port/database';
    expect(() => new PostgresStorage({ url: '' })).to.throw(RangeError, message);
    expect(() => new PostgresStorage({ url: 'localhost/jobs' })).to.throw(
      RangeError,
      'not the URL of a database',
    );
  });

  it('names a host that does not exist', async () => {
    const storage = new PostgresStorage({ url: 'postgres://host.invalid/jobs' });
    const error = await failureOf(() => storage.open());
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.match(/there is no host "host.invalid" \(E\w+\); check the host name/);
    await storage.close();
  });

  it('names an address where nothing listens', async () => {
    const storage = new PostgresStorage({ url: 'postgres://127.0.0.1:1/jobs' });
    const error = await failureOf(() => storage.open());
    expect(error.message).to.include('nothing accepts connections at 127.0.0.1:1 (ECONNREFUSED)');
    await storage.close();
  });

  for (const url of [
    'postgres://host.invalid/jobs',
    'postgres://127.0.0.1:1/jobs',
    'postgres://127.0.0.1:1,host.invalid:2/jobs?target_session_attrs=primary',
  ])
    it(`has a summary without the hosts of ${url}, for callers from outside`, async () => {
      const storage = new PostgresStorage({ url });
      const error = (await failureOf(() => storage.open())) as StorageUnavailableError;
      expect(error.message).to.match(/host\.invalid|127\.0\.0\.1/);
      expect(error.summary).to.match(/^(Postgres cannot be reached|None of the servers)/);
      expect(error.summary).to.not.match(/invalid|127/);
      await storage.close();
    });

  for (const [when, sql] of [
    ['was not opened', 'select'],
    ['is being opened for the first time', 'create schema longshore'],
  ] as const)
    it(`asks for open() if the storage ${when}`, async () => {
      const database = await createTestDatabase();
      await database.query(sql);
      const storage = new PostgresStorage({ url: database.url, ...patientStorage });
      const client = new JobClient(storage);
      const id = '01890000-0000-7000-8000-000000000000';
      for (const call of [
        () => client.enqueue(defineJob({ name: 'a' })),
        () => storage.jobs.find(id),
        () => storage.control.cancel(id),
        () => storage.queues.pause('default'),
        () => storage.recurring.list(),
      ]) {
        const error = await failureOf(call);
        expect(error, String(call)).to.be.instanceOf(StorageUnavailableError);
        expect(error.message, String(call)).to.include('call open() on the storage first');
      }
      await storage.close();
      await database.drop();
    });

  for (const encoding of ['LATIN1', 'SQL_ASCII'])
    it(`names the encoding ${encoding} of a database, and what to do`, async () => {
      const database = await createTestDatabase();
      const url = new URL(database.url);
      const name = `${url.pathname.slice(1)}_${encoding.toLowerCase()}`;
      await database.query(
        `create database ${name} encoding '${encoding}' template template0 locale_provider libc lc_collate 'C' lc_ctype 'C'`,
      );
      url.pathname = name;
      const storage = new PostgresStorage({ url: url.href, ...patientStorage });
      const error = await failureOf(() => storage.open());
      await storage.close();
      await database.query(`drop database ${name} with (force)`);
      await database.drop();
      expect(error.message).to.include(`The encoding of the database is ${encoding}`);
      expect(error.message).to.include("encoding 'UTF8' template template0");
    });

  it('names the migration that failed', async () => {
    const database = await createTestDatabase();
    const application = createApplicationDatabase({ url: database.url, ...patientStorage });
    const directory = await mkdtemp(path.join(tmpdir(), 'migrations-'));
    await writeFile(path.join(directory, '001_shop.sql'), '-- Up Migration\ncreate table shop (id int);');
    await writeFile(
      path.join(directory, '002_order.sql'),
      '-- Up Migration\ncreate tabel shop_order (id int);',
    );
    const migrations = { directory: pathToFileURL(directory), schema: 'shop' };
    const error = await failureOf(() => application.migrate(migrations));
    expect(error.message).to.match(
      /The migration 002_order in .* failed, and nothing was changed: .*"tabel"/,
    );
    await application.close();
    await rm(directory, { recursive: true });
    await database.drop();
  });
});
