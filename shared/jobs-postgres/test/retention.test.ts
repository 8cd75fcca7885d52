import { isDeepStrictEqual } from 'node:util';
import { newId } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { type PostgresOptions, PostgresStorage } from '../src/index.js';
import { withClock } from './support/shifted-clock.js';
import { createStoreDatabase } from './support/store-database.js';

const dayMs = 86_400_000;

describe('The history of a Postgres storage', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  /** When the test began: midnight during a test must not change the days that it means. */
  let began: number;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await storage.queues.pause('default'); // creates the queue
    began = Date.now();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  /** Returns the UTC date of `daysAgo` days ago, such as `2026-01-31`. */
  const dayOf = (daysAgo: number): string => new Date(began - daysAgo * dayMs).toISOString().slice(0, 10);

  /** Creates the history partition of a past day, with jobs that ended at noon (UTC). Returns the partition's name. */
  async function endedOn(
    state: 'done' | 'failed' | 'cancelled',
    daysAgo: number,
    jobs: number,
  ): Promise<string> {
    const day = dayOf(daysAgo);
    const name = `job_history_${state}_${day.replaceAll('-', '')}`;
    await database.query(
      `create table longshore.${name} partition of longshore.job_history_${state}
       for values from ('${day} 00:00+00') to ('${dayOf(daysAgo - 1)} 00:00+00')`,
    );
    await database.query(
      `insert into longshore.job_history_${state} (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args)
       select queue.id, longshore.new_id(), now(), '${day} 12:00+00', 0, 1, 1, 'old', '{}'
       from longshore.queue, generate_series(1, ${jobs}) where queue.name = 'default'`,
    );
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs)
       select id, '${state}', ${jobs} from longshore.queue where name = 'default'`,
    );
    return name;
  }

  /** Runs one round of maintenance, as a newly started server would. */
  async function maintainOnce(options: Partial<PostgresOptions> = {}): Promise<void> {
    const starting = new PostgresStorage({ url: database.url, ...patientStorage, ...options });
    await starting.maintenance.maintain();
    await starting.close();
  }

  /**
   * Runs one round of maintenance. Backdates the records of expired partitions by a day, so that a later round can drop
   * these partitions.
   */
  async function recordExpiryYesterday(options: Partial<PostgresOptions> = {}): Promise<void> {
    await maintainOnce(options);
    await database.query(`update longshore.expiring_day set seen_at = seen_at - interval '1 day'`);
  }

  async function maintainTwice(options: Partial<PostgresOptions> = {}): Promise<void> {
    await recordExpiryYesterday(options);
    await maintainOnce(options);
  }

  /**
   * Runs rounds of maintenance until a table has been dropped. One round may not suffice, because it gives up if a lock
   * on a partition is not free within half a second, for example while Postgres is vacuuming.
   */
  async function maintainUntilDropped(table: string): Promise<void> {
    await recordExpiryYesterday();
    await eventually(async () => {
      await maintainOnce();
      return !(await exists(table));
    });
  }

  const partitions = async (): Promise<string[]> => {
    const rows = await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'longshore'::regnamespace and relkind = 'r' and relname ~ '[0-9]{8}$' order by 1`,
    );
    return rows.map(({ name }) => name);
  };

  const exists = async (table: string): Promise<boolean> => {
    const [row] = await database.query<{ there: boolean }>(
      `select to_regclass('longshore.${table}') is not null as there`,
    );
    return row?.there === true;
  };

  it('loses exactly the days that are older than the retention of their state', async () => {
    const tables = [
      await endedOn('done', 9, 1),
      await endedOn('done', 6, 1),
      await endedOn('failed', 9, 1),
      await endedOn('failed', 32, 1),
      await endedOn('cancelled', 9, 1),
    ];
    await recordExpiryYesterday();
    await eventually(
      async () => {
        await maintainOnce();
        return Promise.all(tables.map((table) => exists(table)));
      },
      (there) => isDeepStrictEqual(there, [false, true, true, false, false]),
    );
  });

  it('is counted correctly after days were dropped', async () => {
    const expired = await endedOn('done', 9, 30);
    await endedOn('done', 6, 5);
    await maintainUntilDropped(expired);
    expect((await storage.jobs.stateCounts()).done).to.equal(5);
    expect(await storage.jobs.count({ state: ['done'], name: ['old'] })).to.include({ count: 5 });
  });

  it('is kept as long as the options say', async () => {
    const table = await endedOn('done', 9, 1);
    await maintainTwice({ retentionDays: { done: 10 } });
    expect(await exists(table)).to.equal(true);
  });

  it('keeps a day that somebody is reading, and the reader does not block the server', async () => {
    const table = await endedOn('done', 9, 1);
    await recordExpiryYesterday();
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('begin');
    await reader.query(`select from longshore.${table}`);
    await storage.maintenance.maintain();
    const thereWhileRead = await exists(table);
    await reader.query('commit');
    await reader.end();
    await maintainUntilDropped(table);
    expect(thereWhileRead).to.equal(true);
  });

  it('is dropped once, however many servers do it concurrently', async () => {
    const tables = [await endedOn('done', 9, 10), await endedOn('failed', 40, 10)];
    await recordExpiryYesterday();
    const storages = Array.from(
      { length: 4 },
      () => new PostgresStorage({ url: database.url, ...patientStorage }),
    );
    await Promise.all(storages.map((each) => each.maintenance.maintain()));
    await Promise.all(storages.map((each) => each.close()));
    for (const table of tables) await maintainUntilDropped(table); // in case a lock was not free
    expect(await storage.jobs.stateCounts()).to.include({ done: 0, failed: 0 });
  });

  for (const days of [8, 366, -366]) {
    it(`loses nothing to a server whose clock is off by ${days} days`, async () => {
      const tables = [await endedOn('done', 2, 1), await endedOn('failed', 20, 1)];
      const before = await partitions();
      await withClock(days * dayMs, () => maintainTwice());
      expect(await Promise.all(tables.map((table) => exists(table)))).to.deep.equal([true, true]);
      // Midnight during the test adds the partitions of one day more.
      const daysAhead = await database.query<{ day: string }>(
        `select to_char((now() at time zone 'UTC')::date + n, 'YYYYMMDD') as day from generate_series(0, 8) as n`,
      );
      const expected = [...before, ...daysAhead.map(({ day }) => day)];
      const others = (await partitions()).filter((name) => !expected.some((end) => name.endsWith(end)));
      expect(others).to.deep.equal([]);
      expect(await partitions()).to.include.members(before);
    });
  }

  it('keeps a day whose expiry was not announced 20 hours earlier, because the database clock may have jumped', async () => {
    const table = await endedOn('done', 9, 1);
    await maintainOnce();
    await maintainOnce();
    expect(await exists(table)).to.equal(true);
  });

  it('forgets expiries announced while the database clock was ahead', async () => {
    const table = await endedOn('done', 9, 1);
    await maintainOnce();
    await database.query(`update longshore.expiring_day set seen_at = now() + interval '1 year'`);
    await maintainOnce();
    const [note] = await database.query<{ notes: number }>(
      'select count(*)::integer as notes from longshore.expiring_day',
    );
    expect([await exists(table), note?.notes]).to.deep.equal([true, 0]);
  });

  it('forgets the version of a server a month after it registered, unless it still runs', async () => {
    const running = await storage.servers.register({
      host: 'here',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 60_000,
      version: '2.4.0',
    });
    const [old, recent] = [newId(), newId()];
    await database.query(
      `insert into longshore.server_version (server_id, version) values ('${old}', '2.3.8'), ('${recent}', '2.3.9')`,
    );
    await database.query(
      `update longshore.server_version set noted_at = now() - interval '31 days' where server_id <> '${recent}'`,
    );
    await maintainOnce();
    const known = await storage.deployments.versionsOf([old, recent, running.id]);
    expect([...known.values()]).to.have.members(['2.3.9', '2.4.0']);
    await running.unregister();
  });

  it('rejects an invalid number of days', () => {
    expect(
      () => new PostgresStorage({ url: database.url, ...patientStorage, retentionDays: { failed: 0 } }),
    ).to.throw(RangeError, 'retentionDays.failed must be an integer from 1 to 3650, not 0');
  });
});
