import { defineJob, handleJob, JobClient, JobServer, StorageUnavailableError } from '@longshore/jobs';
import {
  createTestDatabase,
  eventually,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import { Database } from '../src/connection/database.js';
import { PostgresStorage } from '../src/index.js';
import { databaseOptions, type PostgresOptions } from '../src/connection/options.js';
import { unnamed } from '../src/connection/statement.js';

const tables = [
  'job',
  'job_blocked',
  'job_scheduled',
  'job_awaiting',
  'job_history_done',
  'job_key',
  'recurring_job',
  'outbox',
];

describe('Transactions of the Postgres storage', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    await database.drop();
  });

  const setDefault = (level: string): Promise<unknown> =>
    database.query(`do $$ begin execute format(
      'alter database %I set default_transaction_isolation = %L', current_database(), '${level}'); end $$`);

  async function withDatabase<Result>(
    options: Partial<PostgresOptions>,
    use: (database: Database) => Promise<Result>,
  ): Promise<Result> {
    const opened = new Database(
      databaseOptions({ url: database.url, ...patientStorage, poolSize: 1, ...options }),
    );
    try {
      return await use(opened);
    } finally {
      await opened.close();
    }
  }

  /** Returns the isolation level of a transaction, after setting the session's default level to serializable. */
  const levelOf = (opened: Database): Promise<string | undefined> =>
    opened
      .query(unnamed('set session characteristics as transaction isolation level serializable'))
      .then(() => opened.transaction((client) => client.query<{ level: string }>(showLevel)))
      .then(({ rows }) => rows[0]?.level);

  const showLevel = `select current_setting('transaction_isolation') as level`;

  it('set READ COMMITTED when they begin, whatever the session’s default', async () => {
    expect(await withDatabase({}, levelOf)).to.equal('read committed');
  });

  it('use the session’s level without useRecommendedIsolationLevel', async () => {
    expect(await withDatabase({ useRecommendedIsolationLevel: false }, levelOf)).to.equal('serializable');
  });

  for (const code of ['40001', '40P01']) {
    it(`are retried after a ${code}`, async () => {
      let runs = 0;
      const result = await withDatabase({}, (opened) =>
        opened.transaction(async (client) => {
          runs++;
          if (runs === 1) await client.query(`do $$ begin raise exception using errcode = '${code}'; end $$`);
          return 'committed';
        }),
      );
      expect({ runs, result }).to.deep.equal({ runs: 2, result: 'committed' });
    });
  }

  it('fail if a statement failed and its error was ignored', async () => {
    const failure: unknown = await withDatabase({}, (opened) =>
      opened.transaction(async (client) => {
        await client.query('select 1 / 0').catch(() => undefined);
      }),
    ).catch((caught: unknown) => caught);
    expect(String(failure)).to.contain('was rolled back');
  });

  it('fail eventually if they fail each time', async () => {
    let runs = 0;
    const failure: unknown = await withDatabase({}, (opened) =>
      opened.transaction(async (client) => {
        runs++;
        await client.query(`do $$ begin raise exception using errcode = '40001'; end $$`);
      }),
    ).catch((caught: unknown) => caught);
    expect(runs).to.equal(6);
    expect(failure).to.be.instanceOf(StorageUnavailableError);
    expect((failure as Error).cause).to.include({ code: '40001' });
  });

  for (const pooler of ['none', 'transaction'] as const) {
    for (const level of ['serializable', 'repeatable read']) {
      it(`are all READ COMMITTED in a database that is ${level} by default (pooler: ${pooler})`, async () => {
        const storage = new PostgresStorage({ url: database.url, ...patientStorage, pooler });
        await storage.open();
        await database.query('create table public.written (table_name text, level text)');
        await database.query(`create function public.note_level() returns trigger language plpgsql as $$ begin
          insert into public.written values (tg_table_name, current_setting('transaction_isolation')); return null; end $$`);
        for (const table of tables) {
          await database.query(`create trigger note_level after insert or update or delete on longshore.${table}
            for each statement execute function public.note_level()`);
        }
        await setDefault(level);
        await storage.close(); // connections opened from now on have the new default
        const after = new PostgresStorage({ url: database.url, ...patientStorage, pooler });
        try {
          await runEverything(after);
        } finally {
          await after.close();
        }
        const written = await database.query<{ table_name: string; level: string }>(
          'select * from public.written',
        );
        expect([...new Set(written.map(({ table_name: name }) => name))]).to.have.members(tables);
        expect([...new Set(written.map((row) => row.level))]).to.deep.equal(['read committed']);
      });
    }
  }
});

/**
 * Runs jobs of all kinds: in a limited queue, with keys, with parents, recurring, and completed in the handler's
 * transaction.
 */
async function runEverything(storage: PostgresStorage): Promise<void> {
  const job = defineJob({ name: 'any' });
  const limited = defineJob({ name: 'limited', queue: 'limited' });
  const client = new JobClient(storage);
  await storage.queues.limit('limited', { concurrencyLimit: 1 });
  const server = new JobServer({
    storage,
    ...patientServer,
    queues: ['default', 'limited'],
    handlers: [
      handleJob(job, ({ transaction }) => transaction(async (own) => void (await own.query('select 1')))),
      handleJob(limited, () => undefined),
    ],
  });
  await server.start();
  const ids = await Promise.all([
    client.enqueue(limited, {}),
    client.enqueue(job, {}, { unique: { key: 'one' } }),
    client.enqueue(job, {}, { concurrency: { key: 'tenant', limit: 1 } }),
    client.enqueue(job, {}, { delayMs: 20 }),
  ]);
  await client.enqueue(job, {}, { after: { parents: ids.map(({ id }) => id) } });
  await client.recurring.addOrUpdate({ id: 'often', definition: job, args: {}, cron: '0 0 1 1 *' });
  await client.recurring.trigger('often');
  await eventually(
    () => storage.jobs.stateCounts(),
    ({ done }) => done === 6,
  );
  await server.stop();
}
