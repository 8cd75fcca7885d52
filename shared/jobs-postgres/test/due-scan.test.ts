import { defineJob, JobClient } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { Database } from '../src/connection/database.js';
import { DueCursor } from '../src/maintain/due-cursor.js';
import { DueScan } from '../src/maintain/due-scan.js';
import { PacedScan } from '../src/claim/paced-scan.js';
import { databaseOptions } from '../src/connection/options.js';
import { type DueRow, nextDue, promoteDue } from '../src/maintain/promotion.sql.js';
import { buffersOf } from './support/buffers.js';
import { createStoreDatabase } from './support/store-database.js';

const jobs = 5_000;

/** Creates a scan. The first poll starts at the head, and all later polls start at the cursor. */
const newScan = (database: Database): DueScan => new DueScan(database, new PacedScan(-Infinity));

describe('A scan for due jobs', () => {
  let store: TestDatabase;
  let database: Database;
  let other: pg.Client;
  let queueId: number;

  beforeEach(async () => {
    store = await createStoreDatabase();
    database = new Database(databaseOptions({ url: store.url, ...patientStorage }));
    other = new pg.Client(store.url);
    await other.connect();
    await other.query(`insert into longshore.queue (name) values ('default')`);
    const { rows } = await other.query<{ id: number }>('select id from longshore.queue');
    queueId = rows[0]?.id ?? NaN;
  });

  afterEach(async () => {
    await other.end();
    await database.close();
    await store.drop();
  });

  const schedule = (runAt: string, count = 1): Promise<unknown> =>
    other.query(
      `insert into longshore.job_scheduled (queue_id, id, max_attempts, name, args, run_at)
       select $1, gen_random_uuid(), 1, 'due', '{}', ${runAt} from generate_series(1, $2)`,
      [queueId, count],
    );

  /** Polls once and returns the ids of the queues with a due job. */
  const dueIn = async (scan: DueScan): Promise<number[]> =>
    (await scan.poll()).queues.filter(({ dueAt }) => dueAt !== null).map(({ id }) => id);

  const promote = (): Promise<unknown> => database.query(promoteDue, [queueId, jobs, '-infinity']);

  it('skips the dead entries of promoted jobs while a transaction stays open', async () => {
    const pinning = new pg.Client(store.url);
    await pinning.connect();
    await pinning.query('begin isolation level repeatable read');
    await pinning.query('select 1 from pg_class limit 1');
    await schedule(`now() - interval '1 minute'`, jobs);
    await promote();
    const valuesOf = ({ defaultStart, earlier, inProgress, isMarkDue }: DueCursor): unknown[] => [
      defaultStart,
      [...earlier.keys()],
      [...earlier.values()],
      [...inProgress.keys()],
      [...inProgress.values()],
      isMarkDue,
    ];
    let cursor = DueCursor.start;
    for (let polls = 0; polls < 2; polls++) {
      const [row] = await database.query<DueRow>(nextDue, valuesOf(cursor));
      if (row !== undefined) cursor = cursor.after({ ...row, due: new Map() });
    }
    const fromHead = await buffersOf(store, nextDue, valuesOf(DueCursor.start));
    const fromCursor = await buffersOf(store, nextDue, valuesOf(cursor));
    await pinning.end();
    expect(fromHead).to.be.above(50);
    expect(fromCursor).to.be.below(15);
  });

  it('finds a job that nobody has promoted again', async () => {
    await schedule(`now() - interval '1 hour'`);
    const later = newScan(database);
    for (let polls = 0; polls < 5; polls++) {
      expect(await dueIn(later)).to.deep.equal([queueId]);
      await schedule(`now() + interval '1 hour'`); // commits a transaction, so that the cursor moves
    }
  });

  it('finds a job whose promotion by another server was rolled back', async () => {
    await schedule(`now() - interval '1 hour'`);
    await other.query('begin');
    await other.query(promoteDue.text, [queueId, jobs, '-infinity']);
    const later = newScan(database);
    for (let polls = 0; polls < 3; polls++) await later.poll();
    await other.query('rollback');
    expect(await dueIn(later)).to.deep.equal([queueId]);
  });

  it('finds a job whose transaction was open during earlier polls', async () => {
    await other.query('begin');
    await schedule(`now() - interval '1 hour'`);
    const later = newScan(database);
    for (let polls = 0; polls < 5; polls++) await later.poll();
    await other.query('commit');
    expect(await dueIn(later)).to.deep.equal([queueId]);
  });

  it('finds a job that is enqueued for a past time without starting at the head', async () => {
    const storage = new PostgresStorage({ url: store.url, ...patientStorage });
    await storage.open();
    const later = newScan(database);
    for (let polls = 0; polls < 3; polls++) {
      await later.poll();
      await schedule(`now() + interval '1 hour'`); // commits a transaction, so that the cursor moves
    }
    const runAt = new Date('2020-01-01T00:00:00Z');
    await new JobClient(storage).enqueue(defineJob({ name: 'due', queue: 'default' }), {}, { runAt });
    const found = await dueIn(later);
    await storage.close();
    expect(found).to.deep.equal([queueId]);
  });

  it('finds a job scheduled for long ago when it starts at the head', async () => {
    const fromHead = new DueScan(database, new PacedScan(Infinity)); // every poll counts as quick
    await fromHead.poll();
    await schedule(`now() - interval '1 year'`);
    expect(await dueIn(fromHead)).to.deep.equal([queueId]);
  });
});
