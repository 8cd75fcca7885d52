import {
  defineJob,
  handleJob,
  type Job,
  JobClient,
  type JobContext,
  JobServer,
  silentLogger,
} from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Enqueueing in the transaction of a handler', () => {
  const pay = defineJob({ name: 'pay', queue: 'payments', maxAttempts: 1 });
  const send = defineJob({ name: 'send', queue: 'post' });
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  /** Runs a job with this handler to its end. Returns the job and those that its handler enqueued, oldest first. */
  async function run(
    handle: (context: JobContext<unknown>) => Promise<unknown>,
  ): Promise<{ job: Job; enqueued: Job[] }> {
    const handlers = [handleJob(pay, handle)];
    const server = new JobServer({ storage, handlers, logger: silentLogger, ...patientServer });
    await server.start();
    try {
      const { id } = await new JobClient(storage).enqueue(pay, {});
      const job = await eventually(
        () => storage.jobs.find(id),
        (found) => found?.state === 'done' || found?.state === 'failed',
      );
      if (job === null) return expect.fail('The job is gone');
      const filter = { enqueuedBy: [id] };
      return { job, enqueued: await storage.jobs.list({ filter, order: 'oldest', limit: 10 }) };
    } finally {
      await server.stop();
    }
  }

  /** Enqueues five jobs in every way. */
  async function enqueueAll({ enqueue, enqueueMany, enqueueBatch }: JobContext<unknown>): Promise<void> {
    const { id } = await enqueue(send, { n: 1 }, { unique: { key: 'receipt' } });
    await enqueueMany([
      { definition: send, args: { n: 2 }, options: { after: { parents: [id] } } },
      { definition: send, args: { n: 3 }, options: { delayMs: 3_600_000 } },
    ]);
    await enqueueBatch({
      jobs: [{ definition: send, args: { n: 4 } }],
      callback: { definition: send, args: { n: 5 } },
    });
  }

  it('leaves none of the jobs if the transaction rolls back', async () => {
    const { job, enqueued } = await run((context) =>
      context.transaction(async () => {
        await enqueueAll(context);
        throw new Error('no');
      }),
    );
    expect(job.state).to.equal('failed');
    expect(enqueued).to.deep.equal([]);
    expect(await storage.batches.list({ limit: 1 })).to.deep.equal([]);
  });

  it('leaves none of the jobs if the transaction rolls back while they are enqueued', async () => {
    const { job, enqueued } = await run(({ enqueue, transaction }) =>
      transaction(() => Promise.all([Promise.reject(new Error('no')), enqueue(send, {}), enqueue(send, {})])),
    );
    expect(job.state).to.equal('failed');
    expect(enqueued).to.deep.equal([]);
  });

  it('refuses a transaction within a transaction', async () => {
    const { job } = await run(({ transaction }) => transaction(() => transaction(async () => null)));
    expect(job.error?.message).to.contain('transaction is open already');
  });

  it('creates all of the jobs when the job is done', async () => {
    let before: number | undefined;
    const { job, enqueued } = await run((context) =>
      context.transaction(async () => {
        await enqueueAll(context);
        before = (await storage.jobs.count({ enqueuedBy: [context.job.id] })).count;
      }),
    );
    expect([job.state, before]).to.deep.equal(['done', 0]);
    expect(enqueued.map(({ args, state }) => [args, state])).to.deep.equal([
      [{ n: 1 }, 'enqueued'],
      [{ n: 2 }, 'awaiting'],
      [{ n: 3 }, 'scheduled'],
      [{ n: 4 }, 'enqueued'],
      [{ n: 5 }, 'awaiting'],
    ]);
  });
});
