import { defineJob, handleJob, JobClient, JobServer, type JobStorage } from '@longshore/jobs';
import type { ClaimedJob } from '@longshore/jobs/storage';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import Type from 'typebox';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A handler’s transaction', () => {
  const work = defineJob({ name: 'work', args: Type.Object({}), maxAttempts: 1 });
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      poolSize: 3,
      transactionIdleTimeoutMs: 3_600_000,
    });
    await storage.open();
    await database.query('create table ledger (job_id uuid not null)');
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const claim = async (queue: string): Promise<ClaimedJob> => {
    await new JobClient(storage).enqueue(work, {}, { queue });
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: 3_600_000 };
    const { id: serverId } = await storage.servers.register(description);
    const [claimed] = await storage.claims.claim({ serverId, queue, limit: 1, leaseMs: 3_600_000 });
    return claimed ?? expect.fail('nothing was claimed');
  };
  const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );
  const openTransactions = (name: string): Promise<unknown[]> =>
    database.query(`select from pg_stat_activity where application_name = 'longshore for ${name}'`);

  it('that waits too long for its next statement fails with an error that names the limit', async () => {
    const { claim: held } = await claim('idle');
    const impatient = new PostgresStorage({
      url: database.url,
      ...patientStorage,
      transactionIdleTimeoutMs: 1_000,
    });
    const error = await errorOf(
      impatient.completions.completeInTransaction(held, async (client) => {
        await client.query('insert into ledger values ($1)', [held.jobId]);
        await eventually(
          () => openTransactions(held.serverId),
          (open) => open.length === 0,
        );
        await client.query('select 1');
        return 'null';
      }),
    );
    await impatient.close();
    expect(error).to.have.property('name', 'StorageUnavailableError');
    expect(String(error)).to.contain('transactionIdleTimeoutMs').and.contain('25P03');
    expect(String(error)).to.not.contain('cannot be reached');
    expect(await database.query('select from ledger where job_id = $1', [held.jobId])).to.deep.equal([]);
  });

  it('that Postgres terminates reports that, and not an unreachable Postgres', async () => {
    const { claim: held } = await claim('terminated');
    const error = await errorOf(
      storage.completions.completeInTransaction(held, async (client) => {
        await database.query(
          `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'longshore for ${held.serverId}'`,
        );
        await client.query('select 1');
        return 'null';
      }),
    );
    expect(String(error)).to.contain('57P01').and.not.contain('cannot be reached');
  });

  it('that Postgres terminates during a statement reports that as well', async () => {
    const { claim: held } = await claim('terminated-within');
    const error = await errorOf(
      storage.completions.completeInTransaction(held, async (client) => {
        await client.query('select pg_terminate_backend(pg_backend_pid()), pg_sleep(600)');
        return 'null';
      }),
    );
    expect(String(error)).to.contain('57P01').and.not.contain('cannot be reached');
  });

  for (const [what, busy] of Object.entries({
    'between two statements': () => new Promise<never>(() => undefined),
    'in the middle of a statement': (client: { query(text: string): Promise<unknown> }) =>
      client.query('select pg_sleep(600)'),
  })) {
    it(`that is aborted ${what} has released its job when it rejects`, async () => {
      const { claim: held } = await claim(`called off ${what}`.replaceAll(' ', '-'));
      const over = new AbortController();
      const error = errorOf(
        storage.completions.completeInTransaction(
          held,
          async (client) => {
            await client.query('insert into ledger values ($1)', [held.jobId]);
            setImmediate(() => over.abort(new Error('called off')));
            await busy(client);
            return 'null';
          },
          over.signal,
        ),
      );
      expect(String(await error)).to.contain('called off');
      expect(await openTransactions(held.serverId)).to.deep.equal([]);
      expect(await storage.claims.release([held])).to.deep.equal([]);
      expect(await database.query('select from ledger where job_id = $1', [held.jobId])).to.deep.equal([]);
    });
  }

  it('that ignores its job’s timeout does not keep the outcome from being written', async () => {
    const overdue = defineJob({ name: 'overdue', queue: 'overdue', maxAttempts: 1, timeoutMs: 50 });
    const server = new JobServer({
      storage: storage satisfies JobStorage,
      ...patientServer,
      queues: ['overdue'],
      timeoutGraceMs: 0,
      handlers: [
        handleJob(overdue, ({ transaction }) =>
          transaction((client) => client.query('select pg_sleep(600)')),
        ),
      ],
    });
    await server.start();
    try {
      const { id } = await new JobClient(storage).enqueue(overdue, {});
      const job = await eventually(
        () => storage.jobs.find(id),
        (found) => found?.state === 'failed',
      );
      expect(job?.error?.name).to.equal('JobTimeoutError');
    } finally {
      await server.stop();
    }
  });
});
