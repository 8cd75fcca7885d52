import { type ErrorGroup, newId } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { Database } from '../src/connection/database.js';
import { HistoryIndexes } from '../src/history/history-indexes.js';
import { Lull } from '../src/history/lull.js';
import { PostgresStorage } from '../src/index.js';
import { databaseOptions } from '../src/connection/options.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Failed jobs in Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  /** When the test began, by the database's clock, but at least ten seconds after midnight (UTC). */
  let now: Date;
  /** The partition of that day. */
  let table: string;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const clock = await storage.readClock();
    now = new Date(Math.max(clock.getTime(), new Date(clock).setUTCHours(0, 0, 10, 0)));
    table = `job_history_failed_${now.toISOString().slice(0, 10).replaceAll('-', '')}`;
  });
  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  /**
   * Stores `jobs` failed jobs in the queue `failing`. The n-th job failed `n + msAgo` milliseconds (modulo ten
   * seconds) before `now`.
   */
  const fail = async (name: string, jobs: number, message: string, msAgo = 0): Promise<void> => {
    await storage.queues.pause('failing');
    await database.query(
      `insert into longshore.job_history_failed
         (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, error)
       select queue.id, longshore.new_id(), now(),
         $5::timestamptz - mod(n + $4::integer, 10000) * interval '1 millisecond', 0, 1, 1, $1, '{}',
         jsonb_build_object('name', 'Error', 'message', $3 || ' ' || n, 'stack', repeat('at work ', 20))
       from generate_series(1, $2::integer) as n, longshore.queue where queue.name = 'failing'`,
      [name, jobs, message, msAgo, now],
    );
  };

  const indexes = async (pattern: string): Promise<string[]> => {
    const rows = await database.query<{ name: string }>(
      `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
       where indisvalid and relname ~ $1 order by 1`,
      [pattern],
    );
    return rows.map(({ name }) => name);
  };
  const ofFailures = (): string[] => [`${table}_at`, `${table}_kind`, `${table}_queue_at`];

  it('are indexed from the start of a day, unlike other jobs', async () => {
    expect(await indexes(`^${table}_(at|kind|queue_at)$`)).to.deep.equal(ofFailures());
    const days = await indexes('^job_history_failed_[0-9]{8}_kind$');
    expect(days.length).to.be.at.least(8);
    expect(await indexes('^job_history_(done|cancelled)_[0-9]{8}_(at|kind|queue_at)$')).to.deep.equal([]);
  });

  it('are indexed by housekeeping on a day that was large before the indexes existed', async () => {
    await fail('flood', 20_000, 'No ship');
    for (const name of ofFailures()) await database.query(`drop index longshore.${name}`);
    const connections = [1, 2].map(
      () => new Database(databaseOptions({ url: database.url, ...patientStorage })),
    );
    const [reading, building] = connections as [Database, Database];
    const builder = new HistoryIndexes(reading, building);
    while ((await builder.buildNext()) !== null);
    await builder.close();
    await reading.close();
    expect(await indexes(`^${table}_(at|kind|queue_at)$`)).to.deep.equal(ofFailures());
  });

  it('keep no index build pending after an error', async () => {
    await fail('flood', 20_000, 'No ship'); // smaller days need no indexes
    await database.query(`drop index longshore.${table}_at`);
    await database.query('create sequence public.refused'); // keeps its value when the build is rolled back
    await database.query(
      `create function refuse() returns event_trigger language plpgsql as $$
       begin perform nextval('public.refused'); raise 'No space'; end $$`,
    );
    await database.query(
      `create event trigger refuse on ddl_command_start when tag in ('CREATE INDEX') execute function refuse()`,
    );
    const connections = [1, 2].map(
      () => new Database(databaseOptions({ url: database.url, ...patientStorage })),
    );
    const [reading, building] = connections as [Database, Database];
    const builder = new HistoryIndexes(reading, building, new Lull(reading, 0));
    builder.begin();
    await eventually(
      async () => {
        const [refused] = await database.query<{ is_called: boolean }>(
          'select is_called from public.refused',
        );
        return { refused: refused?.is_called, pending: builder.isPending };
      },
      ({ refused, pending }) => refused === true && !pending,
    );
    await builder.close();
    await reading.close();
    expect(await indexes(`^${table}_at$`)).to.deep.equal([]);
  });

  it('with other errors are reported while one error floods', async () => {
    await fail('flood', 2_500, 'No ship');
    await fail('flood', 3, 'No sea', 3_000);
    await fail('rare', 2, 'No ship', 3_000);
    const { groups, complete } = await storage.statistics.listErrorGroups({ sinceMs: 86_400_000 });
    expect(
      groups.map(({ name, fingerprint, count, failedExact }) => [name, fingerprint, count, failedExact]),
    ).to.deep.equal([
      ['flood', 'Error: No ship <n>', 2_000, false],
      ['flood', 'Error: No sea <n>', 3, true],
      ['rare', 'Error: No ship <n>', 2, true],
    ]);
    expect(complete).to.equal(true);
  });

  it('are dated by the first one with their error, although its job is no longer stored', async () => {
    await storage.queues.pause('failing');
    const failAt = async (hoursAgo: number): Promise<Date | undefined> => {
      const [row] = await database.query<{ at: Date }>(
        `insert into longshore.job_history_failed
           (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, error)
         select id, longshore.new_id(), now(), now() - $1::integer * interval '1 hour', 0, 1, 1, 'charge', '{}',
           jsonb_build_object('name', 'Error', 'message', 'No ship ' || $1, 'stack', null)
         from longshore.queue where name = 'failing'
         returning finished_at as at`,
        [hoursAgo],
      );
      return row?.at;
    };
    const group = async (): Promise<ErrorGroup | undefined> =>
      (await storage.statistics.listErrorGroups({ sinceMs: 3_600_000 })).groups[0];
    const first = await failAt(30);
    await failAt(0);
    const before = await group();
    await storage.maintenance.maintain();
    await database.query(
      `delete from longshore.job_history_failed where finished_at < now() - interval '1 day'`,
    );
    expect(await group()).to.deep.equal(before);
    expect(before?.firstSeenAt).to.deep.equal(first);
  });

  it('of an attempt that is repeated are dated by the first one, too', async () => {
    const { id: serverId } = await storage.servers.register({
      host: 'host',
      pid: 1,
      queues: ['mail'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const failOnce = async (): Promise<string> => {
      const id = newId();
      const job = { id, name: 'send', queue: 'mail', priority: 0, args: '{}', maxAttempts: 3, due: null };
      await storage.enqueuer.enqueue([job]);
      const claimed = await storage.claims.claim({ serverId, queue: 'mail', limit: 1, leaseMs: 3_600_000 });
      const error = { name: 'Error', message: 'not yet', stack: null };
      const outcome = { kind: 'retry', error, delayMs: 60_000 } as const;
      await storage.completions.complete(claimed.map(({ claim }) => ({ claim, outcome })));
      return id;
    };
    const firstSeen = async (): Promise<Date | undefined> =>
      (await storage.statistics.listErrorGroups({ sinceMs: 3_600_000 })).groups[0]?.firstSeenAt;
    const id = await failOnce();
    const before = await firstSeen();
    await storage.maintenance.maintain();
    await storage.control.cancel(id);
    await failOnce();
    expect(before).not.to.equal(undefined);
    expect(await firstSeen()).to.deep.equal(before);
  });

  it('of one name with ever new errors leave room for those of others', async () => {
    await fail('ever-new', 60, 'No');
    // Replaces the digits in the messages with letters, because fingerprints ignore numbers.
    await database.query(
      `update longshore.job_history_failed
       set error = jsonb_set(error, '{message}', ('"' || translate(error ->> 'message', '0123456789', 'abcdefghij') || '"')::jsonb)`,
    );
    await fail('rare', 1, 'No ship');
    const { groups, complete } = await storage.statistics.listErrorGroups({
      sinceMs: 86_400_000,
      limit: 1_000,
    });
    expect(groups.filter(({ name }) => name === 'ever-new')).to.have.length(50);
    expect(groups.filter(({ name }) => name === 'rare')).to.have.length(1);
    expect(complete).to.equal(false);
  });
});
