import { newId } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('Throughput of several queues on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  /** Returns the current minute of the database, as a number of minutes since 1970. */
  const currentMinute = async (): Promise<number> =>
    Math.floor((await storage.readClock()).getTime() / minuteMs);

  /**
   * Creates queues. For each queue, records one completed job per minute of the two hours up to and including the minute
   * `until`. Returns the queue names.
   */
  const workInQueues = async (queues: number, until: number): Promise<string[]> => {
    const names = Array.from({ length: queues }, (_each, index) => `queue-${index}`);
    for (const queue of names)
      await storage.enqueuer.enqueue([
        {
          id: newId(),
          name: 'any',
          queue,
          priority: 0,
          args: '{}',
          maxAttempts: 1,
          due: null,
        },
      ]);
    await database.query(
      `insert into longshore.throughput (queue_id, at, done, failed)
       select id, to_timestamp(60 * ($1::integer - minute)), 1, 0
       from longshore.queue cross join generate_series(0, 119) as minute`,
      [until],
    );
    return names;
  };

  it('counts from the minute in which the span begins, wherever that is in a bucket', async () => {
    const until = await currentMinute();
    const [queue = ''] = await workInQueues(1, until);
    for (const sinceMs of [hourMs, hourMs - 2 * minuteMs]) {
      const query = { queues: [queue], sinceMs, bucketMs: 5 * minuteMs };
      const before = await currentMinute();
      const buckets = (await storage.statistics.throughputByQueue(query)).get(queue) ?? [];
      const after = await currentMinute();
      const total = buckets.reduce((sum, { done }) => sum + done, 0);
      /** Number of the recorded minutes in a span that ends in the minute `now`. */
      const recorded = (now: number): number => Math.max(0, until - (now - sinceMs / minuteMs) + 1);
      // Usually, the read begins and ends in the same minute.
      expect(total, `${sinceMs}`).to.be.within(recorded(after), recorded(before));
    }
  });

  it('looks up exactly the requested queues in the index, even if the statistics say that there are none', async () => {
    await database.query('vacuum analyze longshore.throughput');
    const names = await workInQueues(20, await currentMinute());
    const reader = new PostgresStorage({ url: database.url, ...patientStorage, applicationName: 'measured' });
    const query = { queues: names.slice(4, 7), sinceMs: hourMs, bucketMs: 5 * minuteMs };
    const ended = await reader.statistics.throughputByQueue(query);
    await reader.close();
    await database.disconnected('measured');
    expect(ended.size).to.equal(3);
    const [statistics] = await database.query<{ scans: string; read: string }>(
      `select seq_scan as scans, idx_tup_fetch as read from pg_stat_all_tables
       where schemaname = 'longshore' and relname = 'throughput'`,
    );
    expect(statistics?.scans).to.equal('0');
    const returned = [...ended.values()].flat().reduce((sum, { done }) => sum + done, 0); // one job per row
    expect(Number(statistics?.read)).to.equal(returned);
  });
});
