import {
  defineJob,
  DuplicateJobError,
  type EnqueuedJob,
  handleJob,
  JobClient,
  JobServer,
} from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { Database } from '../src/connection/database.js';
import { PostgresStorage } from '../src/index.js';
import { KeySweeper } from '../src/maintain/housekeeping.js';
import { databaseOptions } from '../src/connection/options.js';
import { deleteGoneMovedJobs } from '../src/enqueue/unique-keys.sql.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });
const unique = { key: 'a' };

describe('Unique keys on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;
  let connection: pg.Client;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new JobClient(storage);
    connection = new pg.Client(database.url);
    await connection.connect();
  });

  afterEach(async () => {
    await connection.end();
    await storage.close();
    await database.drop();
  });

  const waitingForLock = (): Promise<unknown> => eventually(() => database.waitingForLocks());

  const rows = async (table: string): Promise<number> =>
    (await database.query(`select from longshore.${table} where queue_id > 0`)).length;

  it('are taken once by 50 callers of two storages', async () => {
    const other = new PostgresStorage({ url: database.url, ...patientStorage });
    const clients = [client, new JobClient(other)];
    try {
      const enqueued = await Promise.all(
        Array.from({ length: 25 }, () => clients.map((each) => each.enqueue(work, {}, { unique }))).flat(),
      );
      expect(enqueued.filter(({ created }) => created)).to.have.length(1);
      expect(new Set(enqueued.map(({ id }) => id)).size).to.equal(1);
      expect(await rows('job')).to.equal(1);
    } finally {
      await other.close();
    }
  });

  it('block a caller while another transaction holds one, and stay with the first if it commits', async () => {
    await connection.query('begin');
    const first = await client.enqueue(work, {}, { unique, transaction: connection });
    const second = client.enqueue(work, {}, { unique });
    await waitingForLock();
    await connection.query('commit');
    expect(await second).to.deep.equal({ ...first, created: false });
    expect(await rows('job')).to.equal(1);
  });

  it('go to the waiting caller if the first transaction rolls back', async () => {
    await connection.query('begin');
    const first = await client.enqueue(work, {}, { unique, transaction: connection });
    const second = client.enqueue(work, {}, { unique });
    await waitingForLock();
    await connection.query('rollback');
    expect(await second).to.include({ created: true });
    expect((await second).id).not.to.equal(first.id);
    expect(await rows('job')).to.equal(1);
  });

  it('do not block concurrent callers with other keys', async () => {
    // A queue that a transaction creates blocks others until it commits, whatever their keys.
    await storage.queues.resume(work.queue);
    await connection.query('begin');
    await client.enqueue(work, {}, { unique, transaction: connection });
    const stuck = [1, 2, 3].map(() => client.enqueue(work, {}, { unique }));
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, n) => client.enqueue(work, {}, { unique: { key: `other ${n}` } })),
    );
    const later = await client.enqueue(work, {}, { unique: { key: 'later' } });
    expect([...others, later].every(({ created }) => created)).to.equal(true);
    await connection.query('commit');
    expect((await Promise.all(stuck)).some(({ created }) => created)).to.equal(false);
    expect(await rows('job')).to.equal(32);
  });

  it('reject one of several concurrent callers, and not the others', async () => {
    await client.enqueue(work, {}, { unique });
    const answers = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => client.enqueue(work, {}, { unique: { key, onConflict: 'reject' } })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('leave a caller’s transaction usable and empty when one is rejected', async () => {
    const standing = await client.enqueue(work, {}, { unique });
    await connection.query('begin');
    const orders = ['b', 'a'].map((key) => ({
      definition: work,
      args: {},
      options: { unique: { key, onConflict: 'reject' as const }, idempotencyKey: key },
    }));
    const problem = await client.enqueueMany(orders, connection).catch((error: unknown) => error);
    const after = await client.enqueue(work, {}, { transaction: connection });
    await connection.query('commit');
    expect(problem).to.be.instanceOf(DuplicateJobError).and.include({ holderId: standing.id });
    expect(await storage.jobs.find(after.id)).to.include({ state: 'enqueued' });
    expect([await rows('job'), await rows('job_key')]).to.deep.equal([2, 1]);
  });

  it('do not deadlock two callers with several keys in different order', async () => {
    const orders = Array.from({ length: 200 }, (_, n) => ({
      definition: work,
      args: { n },
      options: { unique: { key: `key ${n}` }, queue: `queue-${n % 3}` },
    }));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => client.enqueueMany(n % 2 === 0 ? orders : orders.toReversed())),
    );
    expect(answers.flat().filter(({ created }) => created)).to.have.length(200);
    expect(await rows('job')).to.equal(200);
  });

  it('never have two unfinished jobs, while servers run them', async () => {
    let [running, most] = [0, 0];
    const handler = handleJob(work, async () => {
      most = Math.max(most, ++running);
      await storage.readClock();
      running--;
    });
    const server = new JobServer({ storage, ...patientServer, handlers: [handler], concurrency: 10 });
    await server.start();
    const created: EnqueuedJob[] = [];
    try {
      const enqueueMuch = async (): Promise<void> => {
        for (let n = 0; n < 50 || created.length < 2; n++) {
          const enqueued = await client.enqueue(work, {}, { unique });
          if (enqueued.created) created.push(enqueued);
        }
      };
      await Promise.all(Array.from({ length: 4 }, enqueueMuch));
      await eventually(
        () => storage.jobs.stateCounts(),
        ({ done }) => done === created.length,
      );
    } finally {
      await server.stop();
    }
    expect(most).to.equal(1);
  });

  it('support 10 000 jobs in one call, half of which exist', async () => {
    const orders = Array.from({ length: 10_000 }, (_, n) => ({
      definition: work,
      args: {},
      options: { unique: { key: String(n) } },
    }));
    await client.enqueueMany(orders.filter((_, n) => n % 2 === 0));
    const answers = await client.enqueueMany(orders);
    expect(answers.filter(({ created }) => created)).to.have.length(5_000);
    expect(await rows('job')).to.equal(10_000);
  });

  it('are deleted when obsolete, except those of failed jobs', async () => {
    const options = [
      { unique: { key: 'waiting' } },
      { unique: { key: 'over', periodMs: 1 } },
      { unique: { key: 'gone' } },
      { unique: { key: 'cancelled' } },
      { idempotencyKey: 'request' },
    ];
    const jobs = await client.enqueueMany(
      options.map((each) => ({ definition: work, args: {}, options: each })),
    );
    const [, , gone, cancelled, request] = jobs.map(({ id }) => id);
    for (const id of [gone, cancelled, request]) await storage.control.cancel(id ?? '');
    for (const id of [gone, request]) await storage.control.delete(id ?? '');
    const direct = new Database(databaseOptions({ url: database.url, ...patientStorage }));
    try {
      const sweeper = new KeySweeper(direct);
      await eventually(
        () => sweeper.sweep(),
        ({ seen }) => seen === 3,
      );
      expect(await sweeper.sweep()).to.deep.equal({ seen: 3, stale: 0 });
    } finally {
      await direct.close();
    }
    const left = await database.query<{ key: string }>('select key from longshore.job_key order by key');
    expect(left.map(({ key }) => key)).to.deep.equal(['cancelled', 'request', 'waiting']);
  });

  it('are found with moved jobs exactly as long as these exist', async () => {
    const { id } = await client.enqueue(work, {}, { unique });
    await storage.control.edit([id], async (current) => {
      const { priority, args, runAt } = current.get(id) ?? expect.fail('The job is gone');
      return new Map([[id, { queue: 'other', priority, args: JSON.stringify(args), runAt }]]);
    });
    const direct = new Database(databaseOptions({ url: database.url, ...patientStorage }));
    try {
      await storage.control.cancel(id);
      await direct.query(deleteGoneMovedJobs, [100]);
      expect(await rows('moved_job')).to.equal(1);
      await storage.control.delete(id);
      await direct.query(deleteGoneMovedJobs, [100]);
      expect(await rows('moved_job')).to.equal(0);
    } finally {
      await direct.close();
    }
  });

  it('are kept in the job’s metadata, so that they can be read once another job holds the key', async () => {
    const { id } = await client.enqueue(work, {}, { unique });
    await database.query(`delete from longshore.job_key where job_id = '${id}'`);
    expect(await storage.jobs.find(id)).to.have.nested.property('unique.key', unique.key);
  });
});
