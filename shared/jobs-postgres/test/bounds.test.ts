import { defineJob, JobClient } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const bounded = ['job', 'job_held', 'job_waiting', 'job_awaiting', 'recurring_job', 'job_unique', 'queue'];

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
    `insert into longshore.job_waiting (${row}, run_at) ${job}, '${run_at}'`;
  const awaiting = (delay: string): string =>
    `insert into longshore.job_awaiting (${row}, delay_ms) ${job}, '${delay}'`;

  const refused: [string, string][] = [
    ['a priority above 100', `insert into longshore.job (${row}, priority) ${job}, 101`],
    [
      'a priority below -100',
      `insert into longshore.job_held (${row}, priority, meta) ${job}, -101, ${keyed}, 1)`,
    ],
    ['an attempt below 0', `insert into longshore.job_held (${row}, attempt, meta) ${job}, -1, ${keyed}, 1)`],
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
      `insert into longshore.job_held (${row}, meta) ${job}, ${keyed}, 'x')`,
    ],
    ['a held job without a key', `insert into longshore.job_held (${row}) ${job}`],
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
      `insert into longshore.job_held (${row}, meta) ${job}, ${keyed}, 10000)`,
      `insert into longshore.job_awaiting (${row}) ${job}`,
    ])
      await connection.query(statement);
  });
});

describe('The migration that adds the bounds', () => {
  let database: TestDatabase;
  let connection: pg.Client;

  beforeEach(async () => {
    database = await createStoreDatabase();
    connection = new pg.Client(database.url);
    await connection.connect();
    await connection.query(`insert into longshore.queue (name) values ('mail')`);
    for (const table of bounded)
      await connection.query(`alter table longshore.${table} drop constraint ${table}_bounds`);
    await connection.query('drop table longshore.set_aside');
  });

  afterEach(async () => {
    await connection.end();
    await database.drop();
  });

  async function migrate(): Promise<void> {
    const file = new URL('../migrations/022_bounds.sql', import.meta.url);
    await connection.query(
      `begin; set local search_path to longshore; ${await readFile(file, 'utf8')}; commit`,
    );
  }

  it('clamps existing values, and keeps everything else', async () => {
    const ids = Array.from({ length: 6 }, () => newId());
    const columns = 'queue_id, id, name, max_attempts, args, priority';
    const values = (place: number, priority: number): string =>
      `1, '${ids[place]}', 'work', 1, '{}', ${priority}`;
    await connection.query(`
      insert into longshore.job (${columns}) values (${values(0, 5_000)}), (${values(1, -5_000)});
      insert into longshore.job_waiting (${columns}, run_at) values (${values(2, 0)}, 'infinity'), (${values(3, 7)}, '2030-01-01Z');
      insert into longshore.job_awaiting (${columns}, delay_ms) values (${values(4, 0)}, 1e300), (${values(5, 0)}, null)`);
    await migrate();
    const { rows } = await connection.query<{
      id: string;
      priority: number;
      at: string | null;
      ms: number | null;
    }>(`
      select id, priority, null as at, null::float8 as ms from longshore.job where queue_id = 1
      union all select id, priority, to_json(run_at at time zone 'UTC') #>> '{}', null from longshore.job_waiting where queue_id = 1
      union all select id, priority, run_at::text, delay_ms from longshore.job_awaiting where queue_id = 1
      order by id`);
    expect(rows).to.deep.equal([
      { id: ids[0], priority: 100, at: null, ms: null },
      { id: ids[1], priority: -100, at: null, ms: null },
      { id: ids[2], priority: 0, at: '9999-12-31T23:59:59.999', ms: null },
      { id: ids[3], priority: 7, at: '2030-01-01T00:00:00', ms: null },
      { id: ids[4], priority: 0, at: null, ms: 315_360_000_000 },
      { id: ids[5], priority: 0, at: null, ms: null },
    ]);
  });
});

describe('A finished job from before the bounds', () => {
  it('is clamped to the bounds when it is retried', async () => {
    const database = await createStoreDatabase();
    const storage = new PostgresStorage({ url: database.url });
    await storage.open();
    const { id } = await new JobClient(storage).enqueue(defineJob({ name: 'old' }), {});
    await storage.control.cancel(id);
    await database.query(
      `update longshore.job_done set priority = 5000, attempt = 32767, max_attempts = 32767, run_at = 'infinity'`,
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
