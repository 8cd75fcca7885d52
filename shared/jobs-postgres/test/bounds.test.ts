import { defineJob, JobClient } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('The bounds of the tables', () => {
  let database: TestDatabase;
  let connection: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    connection = new pg.Client(database.url);
    await connection.connect();
    await connection.query(`insert into longshore.queue (name) values ('mail')`);
  });

  after(async () => {
    await connection.end();
    await database.drop();
  });

  const job = `select 1, longshore.new_id(), 'work', 1, '{}'`;
  const keyed = `jsonb_build_object('concurrencyKey', 'a', 'concurrencyLimit'`;
  const row = 'queue_id, id, name, max_attempts, args';
  const waiting = (run_at: string): string =>
    `insert into longshore.job_scheduled (${row}, run_at) ${job}, '${run_at}'`;
  const awaiting = (delay: string): string =>
    `insert into longshore.job_awaiting (${row}, delay_ms) ${job}, '${delay}'`;

  const refused: [string, string][] = [
    ['a priority above 100', `insert into longshore.job (${row}, priority) ${job}, 101`],
    [
      'a priority below -100',
      `insert into longshore.job_blocked (${row}, priority, meta) ${job}, -101, ${keyed}, 1)`,
    ],
    [
      'an attempt below 0',
      `insert into longshore.job_blocked (${row}, attempt, meta) ${job}, -1, ${keyed}, 1)`,
    ],
    ['an attempt above 10 000', `insert into longshore.job (${row}, attempt) ${job}, 10001`],
    ['a time that never comes', waiting('infinity')],
    ['a time that was never', waiting('-infinity')],
    ['a time before 1970', waiting('1969-12-31T23:59:59Z')],
    ['a time after 9999', waiting('10000-01-01T00:00:00Z')],
    ['a delay beyond ten years', awaiting('1e300')],
    ['a delay without end', awaiting('infinity')],
    ['a delay that is no number', awaiting('nan')],
    ['a delay below 0', awaiting('-1')],
    [
      'a concurrency limit that is a text',
      `insert into longshore.job_blocked (${row}, meta) ${job}, ${keyed}, 'x')`,
    ],
    ['a held job without a key', `insert into longshore.job_blocked (${row}) ${job}`],
    ['a rate limit without a period', `update longshore.queue set rate_limit = '{"jobs": 1}'`],
  ];
  for (const [what, statement] of refused) {
    it(`reject ${what}`, async () => {
      const problem = await connection.query(statement).catch((error: unknown) => error);
      expect(problem).to.be.instanceOf(Error).with.property('code', '23514');
    });
  }

  it('accept the values at the bounds', async () => {
    for (const statement of [
      `insert into longshore.job (${row}, priority) ${job}, 100`,
      `insert into longshore.job (${row}, priority) ${job}, -100`,
      waiting('1970-01-01T00:00:00Z'),
      waiting('9999-12-31T23:59:59.999Z'),
      awaiting('315360000000'),
      awaiting('0'),
      `insert into longshore.job_blocked (${row}, meta) ${job}, ${keyed}, 10000)`,
      `insert into longshore.job_awaiting (${row}) ${job}`,
    ])
      await connection.query(statement);
  });
});

describe('A finished job from before the bounds', () => {
  it('is clamped to the bounds when it is retried', async () => {
    const database = await createStoreDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const { id } = await new JobClient(storage).enqueue(defineJob({ name: 'old' }), {});
    await storage.control.cancel(id);
    await database.query(
      `update longshore.job_history_cancelled set priority = 5000, attempt = 32767, max_attempts = 32767, run_at = 'infinity'`,
    );
    const result = await storage.control.retry(id);
    await storage.close();
    await database.drop();
    expect(result.outcome === 'ok' && result.job).to.include({
      state: 'enqueued',
      priority: 100,
      attempt: 9_999,
      maxAttempts: 10_000,
    });
  });
});
