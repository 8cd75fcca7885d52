import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineJob, handleJob, JobClient, JobServer, StorageUnavailableError } from '@longshore/jobs';
import { type LocalPostgres, startLocalPostgres } from '@longshore/local-postgres';
import { eventually, patientServer, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';

describe('A storage whose URL is in a file', () => {
  const work = defineJob({ name: 'work' });
  let directory: string;
  let postgres: LocalPostgres;
  let admin: pg.Client;
  let file: string;
  let url: string;
  let migrations: string;

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-rotated-'));
    postgres = await startLocalPostgres({ directory: path.join(directory, 'postgres'), durable: false });
    file = path.join(directory, 'database url');
    url = pathToFileURL(file).href;
    migrations = path.join(directory, 'migrations');
    await mkdir(migrations);
    await writeFile(path.join(migrations, '001_order.sql'), '-- Up Migration\ncreate table shop."order" ();');
    admin = new pg.Client(postgres.url);
    await admin.connect();
    await admin.query(`create role shop login password 'first'`);
    await admin.query(`create role shop_b login password 'b' in role shop`);
    await admin.query('create database jobs owner shop');
  });

  after(async () => {
    await admin.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });

  beforeEach(() => rotate('first'));

  const urlOf = (user: string, password: string, hosts = `127.0.0.1:${postgres.port}`): string =>
    `postgres://${user}:${encodeURIComponent(password)}@${hosts}/jobs`;

  /** Changes the password of the role and its URL in the file, which ends with a line break as editors write it. */
  async function rotate(password: string, hosts?: string): Promise<void> {
    await admin.query(`alter role shop password ${admin.escapeLiteral(password)}`);
    await writeFile(file, `${urlOf('shop', password, hosts)}\n`);
  }

  /** Returns the names of the sessions of the two roles. */
  async function sessions(): Promise<string[]> {
    const { rows } = await admin.query<{ application_name: string }>(
      `select application_name from pg_stat_activity where usename in ('shop', 'shop_b')`,
    );
    return rows.map(({ application_name: name }) => name);
  }

  const disconnectAll = (): Promise<unknown> =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename in ('shop', 'shop_b')`);

  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'succeeded',
      (error: unknown) => error,
    );

  it('reconnects everything with the password that the file then contains, under running jobs', async () => {
    const storage = new PostgresStorage({ url, directUrl: url, searchUrl: url, ...patientStorage });
    const application = createApplicationDatabase({ url, ...patientStorage });
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const server = new JobServer({
      storage,
      handlers: [handleJob(work, () => finished)],
      ...patientServer,
      serverTimeoutMs: 5_000,
    });
    const client = new JobClient(storage);
    try {
      await storage.open();
      await server.start();
      const { id } = await client.enqueue(work);
      await eventually(async () => (await storage.jobs.find(id))?.state === 'processing');
      await eventually(sessions, (names) => names.includes('longshore heartbeat'));
      const password = 's/e:c@o nd%41é';
      await rotate(password);
      await disconnectAll();
      const stale = new pg.Client(urlOf('shop', 'first'));
      expect(await errorOf(stale.connect())).to.include({ code: '28P01' });
      finish();
      await eventually(async () => (await storage.jobs.find(id))?.state === 'done');
      await eventually(async () => (await storage.jobs.count({ name: ['work'] })).count === 1);
      await eventually(sessions, (names) => names.includes('longshore heartbeat'));
      const next = await client.enqueue(work);
      await eventually(async () => (await storage.jobs.find(next.id))?.state === 'done');
      const directory = pathToFileURL(`${migrations}/`);
      await application.migrate({ directory, schema: 'shop' });
      const { rows } = await application.reads.query<{ now: number }>('select 1 as now');
      expect(rows).to.deep.equal([{ now: 1 }]);
      await application.ping();
    } finally {
      finish();
      await server.stop();
      await Promise.all([storage.close(), application.close()]);
    }
  });

  it('uses another role if the file names one, and the same server and database', async () => {
    const application = createApplicationDatabase({ url, ...patientStorage });
    try {
      const who = 'select current_user as name, current_database() as database';
      await writeFile(file, urlOf('shop_b', 'b', 'nowhere.invalid:1'));
      expect((await application.pool.query(who)).rows).to.deep.equal([{ name: 'shop_b', database: 'jobs' }]);
    } finally {
      await application.close();
    }
  });

  it('asks each of several servers with the new password', async () => {
    const [one, other] = [`127.0.0.1:${postgres.port}`, `localhost:${postgres.port}`];
    await rotate('second', `${one},${other}`);
    const application = createApplicationDatabase({ url, ...patientStorage });
    try {
      await rotate('third', `${one},${other}`);
      await application.ping();
    } finally {
      await application.close();
    }
  });

  it('is unavailable while the file is missing or unusable, says so without its content, and recovers', async () => {
    const storage = new PostgresStorage({ url, ...patientStorage });
    try {
      await rm(file);
      const missing = await errorOf(storage.open());
      expect(missing).to.be.instanceOf(StorageUnavailableError);
      expect(String(missing))
        .to.contain('The file with the URL of the database cannot be read')
        .and.contain(file);
      for (const content of [
        '',
        'hunter2',
        'postgres://shop:hunter2@[/jobs',
        'postgres://shop:hunter2@x:y/jobs',
      ]) {
        await writeFile(file, content);
        const error = await errorOf(storage.open());
        expect(error).to.be.instanceOf(StorageUnavailableError);
        expect(String(error)).to.contain(`The file ${file} does not contain a usable URL of a database`);
        expect(
          JSON.stringify([error, (error as Error).cause, String((error as Error).stack)]),
        ).not.to.contain('hunter2');
      }
      await rotate('second');
      await storage.open();
    } finally {
      await storage.close();
    }
  });

  it('refuses to be created with a file that is missing or unusable', async () => {
    const create = () => new PostgresStorage({ url });
    await writeFile(file, 'hunter2');
    expect(create).to.throw(
      RangeError,
      `url names a file that does not contain the URL of a database, ${file}`,
    );
    await writeFile(file, 'postgres://shop:hunter2@x:y/jobs');
    expect(create).to.throw(RangeError, 'url cannot be used: Invalid URL. Special characters');
    await rm(file);
    expect(create).to.throw(RangeError, 'url names a file that cannot be read: ENOENT');
  });
});
