import { readdir, readFile } from 'node:fs/promises';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import {
  createTestDatabase,
  eventually,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { defaultSchema, Schema } from '../src/connection/schema.js';
import { staticStatements } from '../src/connection/statement.js';
import { PostgresStorage } from '../src/index.js';
import { listen } from './support/heard.js';
import { createStoreDatabase } from './support/store-database.js';

const migrations = new URL('../migrations/', import.meta.url);

describe('The schema of a storage', () => {
  it('replaces the default schema in every statement and migration', async () => {
    const files = (await readdir(migrations)).map((name) => readFile(new URL(name, migrations), 'utf8'));
    const statements = [...staticStatements().values()].flatMap(({ text, citus }) => [text, citus ?? '']);
    const texts = [...statements, ...(await Promise.all(files))];
    expect(texts.length).to.be.greaterThan(100);
    const schema = new Schema('order');
    const left = texts.flatMap((text) => schema.render(text).match(/.*longshore(?!%').*/g) ?? []);
    expect(left.filter((line) => !/^\s*--|'longshore-[0-9a-f]{8} for /.test(line))).to.deep.equal([]);
  });

  it('leaves the default schema as it is written', () => {
    const text = `select 'longshore.job'::regclass from longshore.job`;
    const statement = { name: 'a', text, citus: undefined };
    expect(new Schema(defaultSchema).statement(statement)).to.equal(statement);
    expect(new Schema('order').statement(statement).text).to.equal(
      `select 'order.job'::regclass from "order".job`,
    );
  });

  for (const name of [
    '',
    'Jobs',
    '1st',
    'pg_jobs',
    'my-app',
    'a"b',
    'a.b',
    'größe',
    'information_schema',
    'a'.repeat(60),
  ]) {
    it(`rejects the name ${JSON.stringify(name)}`, () => {
      const create = (): unknown => new PostgresStorage({ url: 'postgres://localhost/none', schema: name });
      expect(create).to.throw(RangeError, 'schema must have 1 to 59 lowercase letters');
    });
  }

  // A keyword, a name that Postgres reserves for settings of its language, the usual schema, and the longest name.
  for (const name of ['select', 'plpgsql', 'public', '_', 'a'.repeat(59)]) {
    it(`may be ${name}, for every way to enqueue`, async () => {
      const database = await createTestDatabase();
      const storage = new PostgresStorage({ url: database.url, ...patientStorage, schema: name });
      await storage.open();
      const client = new pg.Client(database.url);
      await client.connect();
      const work = defineJob({ name: 'work' });
      const alone = await new JobClient(storage).enqueue(work);
      await client.query('begin');
      const inTransaction = await new JobClient(storage).enqueue(work, {}, { transaction: client });
      await client.query('commit');
      const { rows } = await client.query<{ id: string }>(`select "${name}".enqueue('work') as id`);
      for (const id of [alone.id, inTransaction.id, rows[0]?.id ?? ''])
        expect((await storage.jobs.find(id))?.state).to.equal('enqueued');
      await client.end();
      await storage.close();
      await database.drop();
    });
  }

  describe('beside another storage in the same database', () => {
    let database: TestDatabase;
    let usual: PostgresStorage;
    let other: PostgresStorage;

    before(async () => {
      database = await createStoreDatabase();
      usual = new PostgresStorage({ url: database.url, ...patientStorage });
      other = new PostgresStorage({ url: database.url, ...patientStorage, schema: 'order' });
      await Promise.all([usual.open(), other.open()]);
    });

    after(async () => {
      await Promise.all([usual.close(), other.close()]);
      await database.drop();
    });

    it('keeps jobs, servers and notifications apart, also those of callers and of SQL', async () => {
      const work = defineJob({ name: 'work' });
      const ran: string[] = [];
      const serverOf = (storage: PostgresStorage, name: string): JobServer =>
        new JobServer({
          storage,
          ...patientServer,
          handlers: [handleJob(work, ({ job }) => void ran.push(`${name} ${job.id}`))],
        });
      const server = serverOf(other, 'other');
      await server.start();
      const client = new pg.Client(database.url);
      await client.connect();
      const heard = await listen(client);
      const heardOfOther = await listen(client, 'order');

      const alone = await new JobClient(other).enqueue(work);
      await client.query('begin');
      const inTransaction = await new JobClient(other).enqueue(work, {}, { transaction: client });
      await client.query('commit');
      const { rows } = await client.query<{ id: string }>(`select "order".enqueue('work') as id`);
      await eventually(
        () => ran,
        ({ length }) => length === 3,
      );
      await eventually(heardOfOther, (subjects) => subjects.includes('* ready'));
      await client.query(`notify longshore, 'x end'`);
      await eventually(heard, (subjects) => subjects.includes('end'));
      await client.end();
      expect(ran).to.have.members([alone.id, inTransaction.id, rows[0]?.id].map((id) => `other ${id}`));
      expect(heard()).to.deep.equal(['end']);
      expect(await usual.servers.list()).to.deep.equal([]);
      expect((await usual.jobs.count({})).count).to.equal(0);
      await server.stop();
    });

    it('does not end the transactions of the other storage’s servers', async () => {
      const work = defineJob({ name: 'slow' });
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      let holds = false;
      const server = new JobServer({
        storage: other,
        ...patientServer,
        handlers: [
          handleJob(work, ({ transaction }) =>
            transaction(async () => {
              holds = true;
              await released;
            }),
          ),
        ],
      });
      await server.start();
      const { id } = await new JobClient(other).enqueue(work);
      await eventually(() => holds);
      await usual.maintenance.rescue(true);
      release();
      const job = await eventually(
        () => other.jobs.find(id),
        (found) => found?.state === 'done',
      );
      expect(job?.attempt).to.equal(1);
      await server.stop();
    });
  });
});
