import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { Database } from '../src/database.js';
import { DueCursor } from '../src/due-cursor.js';
import { DueScan } from '../src/due-scan.js';
import { PacedScan } from '../src/paced-scan.js';
import { databaseOptions } from '../src/postgres-options.js';
import { type DueRow, nextDue, promoteDue } from '../src/sql/promote-jobs.js';
import { buffersOf } from './support/buffers.js';
import { createStoreDatabase } from './support/store-database.js';

const jobs = 5_000;

describe('A look for due jobs', () => {
  let store: TestDatabase;
  let database: Database;
  let other: pg.Client;
  let queueId: number;
  let scan: DueScan;

  beforeEach(async () => {
    store = await createStoreDatabase();
    database = new Database(databaseOptions({ url: store.url }));
    other = new pg.Client(store.url);
    await other.connect();
    await other.query(`insert into longshore.queue (name) values ('default')`);
    const { rows } = await other.query<{ id: number }>('select id from longshore.queue');
    queueId = rows[0]?.id ?? NaN;
    scan = new DueScan(database, new PacedScan(-Infinity)); // after the first look none begins at the head
    await scan.look();
  });

  afterEach(async () => {
    await other.end();
    await database.close();
    await store.drop();
  });

  const schedule = (runAt: string, count = 1): Promise<unknown> =>
    other.query(
      `insert into longshore.job_waiting (queue_id, id, max_attempts, name, args, run_at)
       select $1, gen_random_uuid(), 1, 'due', '{}', ${runAt} from generate_series(1, $2)`,
      [queueId, count],
    );

  const promote = (): Promise<unknown> => database.query(promoteDue, [queueId, jobs, '-infinity']);

  /** Waits by the database's clock. */
  const pass = (ms: number): Promise<unknown> => other.query('select pg_sleep($1 / 1000.0)', [ms]);

  const seesOne = async (): Promise<boolean> => (await scan.look()).some(({ dueAt }) => dueAt !== null);

  it('does not pass the dead entries of promoted jobs again while a transaction stays open', async () => {
    const pinning = new pg.Client(store.url);
    await pinning.connect();
    await pinning.query('begin isolation level repeatable read');
    await pinning.query('select 1 from pg_class limit 1');
    await schedule(`now() - interval '1 minute'`, jobs);
    await promote();
    const valuesOf = ({ everywhere, earlier, underWay, isMarkDue }: DueCursor): unknown[] => [
      everywhere,
      [...earlier.keys()],
      [...earlier.values()],
      [...underWay.keys()],
      [...underWay.values()],
      isMarkDue,
    ];
    let cursor = DueCursor.start;
    for (let looks = 0; looks < 2; looks++) {
      const [look] = await database.query<DueRow>(nextDue, valuesOf(cursor));
      if (look !== undefined) cursor = cursor.after({ ...look, due: new Map() });
    }
    const fromHead = await buffersOf(store, nextDue, valuesOf(DueCursor.start));
    const fromCursor = await buffersOf(store, nextDue, valuesOf(cursor));
    await pinning.end();
    expect(fromHead).to.be.above(50);
    expect(fromCursor).to.be.below(15);
  });

  it('finds a job that was scheduled before others were promoted, and committed after', async () => {
    await other.query('begin');
    await schedule('clock_timestamp()');
    await scan.look();
    await pass(1_100);
    await scan.look();
    await scan.look();
    await other.query('commit');
    expect(await seesOne()).to.equal(true);
  });

  it('finds a job that another server was promoting and gave back', async () => {
    await schedule('clock_timestamp()');
    await other.query('begin');
    await other.query(promoteDue.text, [queueId, jobs, '-infinity']);
    await pass(1_100);
    await scan.look();
    await scan.look();
    await other.query('rollback');
    expect(await seesOne()).to.equal(true);
  });

  it('finds a job that was due when an earlier look found it and nobody promoted it', async () => {
    await schedule('clock_timestamp()');
    await seesOne();
    await pass(1_100);
    await seesOne();
    expect(await seesOne()).to.equal(true);
  });

  it('finds jobs of a transaction that was under way before the first look', async () => {
    await other.query('begin');
    await schedule(`now() - interval '1 hour'`);
    const later = new DueScan(database, new PacedScan(-Infinity));
    await later.look();
    await later.look();
    await other.query('commit');
    expect((await later.look()).map(({ id }) => id)).to.deep.equal([queueId]);
  });

  it('finds a job scheduled for long ago by the next look from the head', async () => {
    const paced = new DueScan(database);
    await paced.look();
    await schedule(`now() - interval '1 year'`);
    let found = await paced.look();
    while (found.length === 0) found = await paced.look();
    expect(found).to.have.length(1);
  });
});
