import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import {
  during,
  eventually,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Jobs and callers’ transactions', () => {
  const work = defineJob({ name: 'work', args: Type.Object({ n: Type.Integer() }) });
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;
  let connection: pg.Client;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new JobClient(storage);
    connection = new pg.Client(database.url);
    await connection.connect();
    await connection.query('create table ledger (job_id uuid not null)');
  });

  after(async () => {
    await connection.end();
    await storage.close();
    await database.drop();
  });

  it('a job enqueued in a transaction appears when it commits, not before', async () => {
    await connection.query('begin');
    const { id } = await client.enqueue(work, { n: 1 }, { transaction: connection });
    expect(await storage.jobs.find(id)).to.equal(null);
    await connection.query('commit');
    expect((await storage.jobs.find(id))?.state).to.equal('enqueued');
  });

  it('a job enqueued in a transaction disappears when it rolls back', async () => {
    await connection.query('begin');
    const { id } = await client.enqueue(work, { n: 1 }, { transaction: connection });
    await connection.query('rollback');
    expect(await storage.jobs.find(id)).to.equal(null);
  });

  it('SQL enqueues a job that a server runs', async () => {
    const server = new JobServer({
      storage,
      ...patientServer,
      handlers: [handleJob(work, ({ args }) => args.n + 1)],
      queues: ['sql'],
    });
    await server.start();
    try {
      const [row] = await database.query<{ id: string }>(
        `select longshore.enqueue('work', '{"n":41}', 'sql') as id`,
      );
      const job = await eventually(
        () => storage.jobs.find(row?.id ?? ''),
        (found) => found?.state === 'done',
      );
      expect(job?.result).to.equal(42);
    } finally {
      await server.stop();
    }
  });

  it('SQL gives a job a version 7 UUID with the current time', async () => {
    const made = await during(() => database.query<{ id: string }>('select longshore.new_id() as id'));
    const id = made.result[0]?.id ?? '';
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
    // SQL rounds the time, possibly to the next millisecond.
    expect(at).to.be.within(made.from, new Date(made.until.getTime() + 1));
  });

  it('SQL rejects an invalid job name', async () => {
    const error = await database
      .query(`select longshore.enqueue('two words')`)
      .catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('"two words" is not a valid name for a job');
  });

  it('a handler’s work in its transaction and the end of its job are committed together', async () => {
    const server = new JobServer({
      storage,
      ...patientServer,
      queues: ['exact'],
      handlers: [
        handleJob(work, ({ job, transaction }) =>
          transaction(async (tx) => {
            await tx.query('insert into ledger values ($1)', [job.id]);
            return { written: true };
          }),
        ),
      ],
    });
    await server.start();
    try {
      const { id } = await client.enqueue(work, { n: 1 }, { queue: 'exact' });
      const job = await eventually(
        () => storage.jobs.find(id),
        (found) => found?.state === 'done',
      );
      expect(job?.result).to.deep.equal({ written: true });
      expect(await database.query('select from ledger where job_id = $1', [id])).to.have.length(1);
    } finally {
      await server.stop();
    }
  });

  it('a handler’s work is rolled back if its lease was lost in the meantime', async () => {
    const { id } = await client.enqueue(work, { n: 1 }, { queue: 'lost' });
    const { id: serverId } = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['lost'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const [claimed] = await storage.claims.claim({ serverId, queue: 'lost', limit: 1, leaseMs: 3_600_000 });
    if (claimed === undefined) throw new Error('nothing was claimed');
    const stale = { ...claimed.claim, attempt: 7 };
    const error = await storage.completions
      .completeInTransaction(stale, async (tx) => {
        await tx.query('insert into ledger values ($1)', [id]);
        return 'null';
      })
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'ClaimLostError');
    expect(await database.query('select from ledger where job_id = $1', [id])).to.deep.equal([]);
  });

  it('a claim locked by its handler’s transaction is neither lost nor reclaimed', async () => {
    const { id } = await client.enqueue(work, { n: 1 }, { queue: 'held' });
    const { id: serverId } = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['held'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const [claimed] = await storage.claims.claim({ serverId, queue: 'held', limit: 1, leaseMs: 1 });
    if (claimed === undefined) throw new Error('nothing was claimed');
    await storage.completions.completeInTransaction(claimed.claim, async () => {
      expect(await storage.claims.renew([claimed.claim], 1)).to.deep.equal([]);
      await storage.maintenance.rescue();
      return '"held"';
    });
    expect(await storage.jobs.find(id)).to.include({ state: 'done', result: 'held', attempt: 1 });
  });
});
