import { defineJob, JobClient, type JobState } from '@longshore/jobs';
import type { Claim, Outcome } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createCountingPool } from './support/examined-rows.js';
import { listen } from './support/heard.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Continuations and batches on Postgres', () => {
  const done: Outcome = { kind: 'done', result: 'null' };
  const failed: Outcome = { kind: 'failed', error: { name: 'Error', message: 'no', stack: null } };
  const parentJob = defineJob({ name: 'parent', queue: 'parents' });
  const childJob = defineJob({ name: 'child', queue: 'children' });
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

  const stateOf = async (id: string): Promise<JobState | undefined> => (await storage.jobs.find(id))?.state;

  async function resolveAll(by: PostgresStorage = storage): Promise<void> {
    let quiet = 0;
    while (quiet < 3) quiet = (await by.maintenance.resolveDependencies(100)) === 0 ? quiet + 1 : 0;
  }

  /** Registers a new server and claims jobs for it. */
  async function claim(by: PostgresStorage, limit = 1): Promise<Claim[]> {
    const { id: serverId } = await by.servers.register({
      host: 'x',
      pid: 1,
      queues: ['parents'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const jobs = await by.claims.claim({ serverId, queue: 'parents', limit, leaseMs: 3_600_000 });
    return jobs.map((job) => job.claim);
  }

  async function claimOne(): Promise<Claim> {
    const [first] = await claim(storage);
    if (first === undefined) throw new Error('nothing could be claimed');
    return first;
  }

  it('dependencies of a process that ends after a completion are resolved by others', async () => {
    const { id } = await client.enqueue(parentJob, {});
    const child = await client.enqueue(childJob, {}, { after: { parents: [id] } });
    await resolveAll();
    const worker = new PostgresStorage({ url: database.url, ...patientStorage });
    const claims = await claim(worker);
    await worker.completions.complete(claims.map((held) => ({ claim: held, outcome: done })));
    await worker.close();
    expect(await stateOf(child.id)).to.equal('awaiting');
    await resolveAll();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('servers are notified to resolve the dependencies of a job that fails with its server', async () => {
    await client.enqueue(defineJob({ name: 'parent', queue: 'parents', maxAttempts: 1 }), {});
    await claimOne();
    await database.query(
      `update longshore.server set timeout_ms = 0, heartbeat_at = now() - interval '1 hour'`,
    );
    const heard = await listen(connection);
    const { failed } = await storage.maintenance.rescue();
    expect(failed).to.equal(1);
    await eventually(heard, (subjects) => subjects.includes('outbox'));
  });

  it('several servers that resolve dependencies concurrently release each job once', async () => {
    const parents = await client.enqueueMany(
      Array.from({ length: 20 }, () => ({ definition: parentJob, args: {} })),
    );
    const after = { parents: parents.map(({ id }) => id) };
    await client.enqueueMany(
      Array.from({ length: 100 }, () => ({ definition: childJob, args: {}, options: { after } })),
    );
    const others = [1, 2, 3].map(() => new PostgresStorage({ url: database.url, ...patientStorage }));
    await Promise.all([storage, ...others].map((each) => resolveAll(each)));
    const claims = await claim(storage, 20);
    await Promise.all([
      ...claims.map((held) => storage.completions.complete([{ claim: held, outcome: done, hasMeta: true }])),
      ...[storage, ...others].map(async (each) => {
        for (let round = 0; round < 20; round++) await each.maintenance.resolveDependencies(2);
      }),
    ]);
    await Promise.all([storage, ...others].map((each) => resolveAll(each)));
    const [row] = await database.query<{ jobs: number; ids: number }>(
      `select count(*)::integer as jobs, count(distinct id)::integer as ids from longshore.job where queue_id > 0`,
    );
    expect(row).to.deep.equal({ jobs: 100, ids: 100 });
    expect(await storage.jobs.stateCounts()).to.include({ awaiting: 0, enqueued: 100, done: 20 });
    await Promise.all(others.map((other) => other.close()));
  });

  it('a transaction that enqueues a continuation delays nobody, however long it stays open', async () => {
    const { id } = await client.enqueue(parentJob, {});
    const held = await claimOne();
    await connection.query('begin');
    const child = await client.enqueue(childJob, {}, { after: { parents: [id] }, transaction: connection });
    expect(await storage.completions.complete([{ claim: held, outcome: done }])).to.deep.equal([]);
    await resolveAll();
    expect(await stateOf(child.id)).to.equal(undefined);
    await connection.query('commit');
    await resolveAll();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  /** Retries a job together with its dependents, while the outbox relay is about to skip the job `dependent`. */
  async function retryWhileSkipping(dependent: string, id: string): Promise<void> {
    await connection.query('begin');
    await connection.query('select from longshore.job_awaiting where id = $1 for update', [dependent]);
    const skipping = storage.maintenance.resolveDependencies(100);
    await eventually(async () => (await database.waitingForLocks()) === 1);
    let isRetried = false;
    const retrying = storage.control.retry(id, { dependents: true }).then(() => (isRetried = true));
    await eventually(async () => isRetried || (await database.waitingForLocks()) === 2);
    await connection.query('commit');
    await Promise.all([skipping, retrying]);
    await resolveAll();
  }

  it('a callback that is being skipped waits again if a job of its batch is retried with its dependents', async () => {
    const { jobs, callback } = await client.enqueueBatch({
      jobs: [{ definition: parentJob, args: {}, options: { maxAttempts: 1 } }],
      callback: { definition: childJob, args: {} },
    });
    const [id = ''] = jobs.map((job) => job.id);
    const held = await claimOne();
    await storage.completions.complete([{ claim: held, outcome: failed, hasMeta: true }]);
    await storage.maintenance.resolveDependencies(1); // counts the job, which ends the batch
    await retryWhileSkipping(callback?.id ?? '', id);
    expect(await stateOf(callback?.id ?? '')).to.equal('awaiting');
    const again = await claimOne();
    await storage.completions.complete([{ claim: again, outcome: done, hasMeta: true }]);
    await resolveAll();
    expect(await stateOf(callback?.id ?? '')).to.equal('enqueued');
  });

  it('a callback waits if a job of its batch was retried, although another server counts the retry later', async () => {
    const { jobs, callback } = await client.enqueueBatch({
      jobs: [{ definition: parentJob, args: {}, options: { maxAttempts: 1 } }],
      callback: { definition: childJob, args: {} },
    });
    await storage.completions.complete([{ claim: await claimOne(), outcome: failed, hasMeta: true }]);
    await storage.control.retry(jobs[0]?.id ?? '', { dependents: true });
    // Another server has taken the entry of the retry.
    await connection.query('begin');
    await connection.query(`select from longshore.outbox where from_state = 'failed' for update`);
    await storage.maintenance.resolveDependencies(100); // counts the failure, which ends the batch
    await storage.maintenance.resolveDependencies(100); // the batch has ended
    await connection.query('commit');
    await resolveAll();
    expect(await stateOf(callback?.id ?? '')).to.equal('awaiting');
    await storage.completions.complete([{ claim: await claimOne(), outcome: done, hasMeta: true }]);
    await resolveAll();
    expect(await stateOf(callback?.id ?? '')).to.equal('enqueued');
  });

  it('a dependent that is being skipped waits again if its parent is restored', async () => {
    const { id } = await client.enqueue(parentJob, {}, { maxAttempts: 1 });
    const parent = await client.enqueue(childJob, {}, { after: { parents: [id] } });
    const dependent = await client.enqueue(childJob, {}, { after: { parents: [parent.id] } });
    await resolveAll();
    const held = await claimOne();
    await storage.completions.complete([{ claim: held, outcome: failed, hasMeta: true }]);
    await storage.maintenance.resolveDependencies(1); // skips the parent
    await retryWhileSkipping(dependent.id, id);
    expect([await stateOf(parent.id), await stateOf(dependent.id)]).to.deep.equal(['awaiting', 'awaiting']);
  });

  it('a continuation may depend on a job of the same transaction', async () => {
    await connection.query('begin');
    const { id } = await client.enqueue(parentJob, {}, { transaction: connection });
    const child = await client.enqueue(childJob, {}, { after: { parents: [id] }, transaction: connection });
    await connection.query('commit');
    await resolveAll();
    await storage.completions.complete([{ claim: await claimOne(), outcome: done }]);
    await resolveAll();
    expect(await stateOf(child.id)).to.equal('enqueued');
  });

  it('a continuation disappears with its dependencies when its transaction rolls back', async () => {
    const { id } = await client.enqueue(parentJob, {});
    await connection.query('begin');
    await client.enqueue(childJob, {}, { after: { parents: [id] }, transaction: connection });
    await connection.query('rollback');
    expect(await storage.jobs.listContinuations(id)).to.deep.equal([]);
    expect(await database.query('select from longshore.job_dependency')).to.deep.equal([]);
  });

  it('a parent that finishes in its handler’s own transaction releases dependents added in the meantime', async () => {
    const { id } = await client.enqueue(parentJob, {});
    const held = await claimOne();
    let childId = '';
    await storage.completions.completeInTransaction(held, async () => {
      ({ id: childId } = await client.enqueue(childJob, {}, { after: { parents: [id] } }));
      await resolveAll(); // does not block, although the open transaction has locked the parent
      return 'null';
    });
    await resolveAll();
    expect(await stateOf(childId)).to.equal('enqueued');
  });

  it('a batch appears with its jobs when its transaction commits, and disappears when it rolls back', async () => {
    const order = {
      jobs: [{ definition: parentJob, args: {} }],
      callback: { definition: childJob, args: {} },
    };
    await connection.query('begin');
    const gone = await client.enqueueBatch(order, connection);
    await connection.query('rollback');
    await connection.query('begin');
    const kept = await client.enqueueBatch(order, connection);
    await connection.query('commit');
    expect(await storage.batches.find(gone.id)).to.equal(null);
    expect(await storage.batches.find(kept.id)).to.include({ total: 1, callbackId: kept.callback?.id });
    expect(await storage.jobs.stateCounts()).to.include({ enqueued: 1, awaiting: 1 });
  });

  it('many dependents of one job are released by statements that look up a limited number of jobs', async () => {
    const size = 10_000;
    const { id } = await client.enqueue(parentJob, {});
    const options = { after: { parents: [id] } };
    await client.enqueueMany(
      Array.from({ length: size }, () => ({ definition: childJob, args: {}, options })),
    );
    await resolveAll();
    await storage.completions.complete([{ claim: await claimOne(), outcome: done, hasMeta: true }]);
    const { pool, most } = createCountingPool(database.url);
    const counted = new PostgresStorage({ pool, ...patientStorage });
    await resolveAll(counted);
    await counted.close();
    await pool.end();
    expect(await storage.jobs.stateCounts()).to.include({ awaiting: 0, enqueued: size });
    // A statement releases 5,000 jobs, and examines 13 rows for each. If it compared every job with every dependency, it
    // would examine 25 million.
    expect(most(/./)).to.be.within(5_000, 100_000);
  });
});
