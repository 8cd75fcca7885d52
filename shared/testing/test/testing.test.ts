import { AssertionError } from 'node:assert';
import {
  defineJob,
  defineRecurringJob,
  handleJob,
  InvalidArgumentsError,
  JobClient,
  JobServer,
  runOnce,
  silentLogger,
} from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { createTestDatabase, patientServer, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import Type from 'typebox';
import { assertEnqueued, drain, runJob, TestJobs } from '../src/index.js';

const Order = Type.Object({ order: Type.Integer() });
const ship = defineJob({ name: 'ship', queue: 'shipping', args: Order, retryDelay: [60_000] });
const bill = defineJob({ name: 'bill', args: Order, result: Type.Object({ cents: Type.Integer() }) });

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'succeeded',
    (error: unknown) => error,
  );

describe('runJob', () => {
  it('runs a handler with a complete context, and returns its result, logs and progress', async () => {
    const handler = handleJob(bill, ({ args, job, log, progress, signal }) => {
      log.info('billing', { attempt: job.attempt });
      progress(50, 'halfway');
      signal.throwIfAborted();
      return { cents: args.order * 100 };
    });
    const { result, logs, progress } = await runJob(handler, { order: 7 }, { attempt: 3 });
    expect(result.cents).to.equal(700);
    expect(logs).to.deep.equal([{ level: 'info', message: 'billing', fields: { attempt: 3 } }]);
    expect(progress).to.deep.equal({ percent: 50, message: 'halfway' });
  });

  it('checks the arguments and the result against the definition', async () => {
    const handler = handleJob(bill, () => ({ cents: 0.5 }));
    // @ts-expect-error order is an integer
    expect(await failureOf(runJob(handler, { order: 'x' }))).to.be.instanceOf(InvalidArgumentsError);
    const error = await failureOf(runJob(handler, { order: 1 }));
    expect(error).to.have.property('message', 'result.cents must be integer');
  });

  it('answers the statements of a transaction', async () => {
    const handler = handleJob(ship, ({ args, transaction }) =>
      transaction(async (client) => {
        const { rows } = await client.query<{ total: number }>('select total from orders where id = $1', [
          args.order,
        ]);
        return rows[0]?.total;
      }),
    );
    const query = async (_: string, [id]: unknown[]) => ({ rows: [{ total: Number(id) + 1 }] });
    expect((await runJob(handler, { order: 1 }, { query })).result).to.equal(2);
    const error = await failureOf(runJob(handler, { order: 1 }));
    expect(error).to.have.property('message').that.contains('pass runJob a query function');
  });

  it('returns what the handler enqueued, and in a transaction only if it commits', async () => {
    const handler = handleJob(ship, async ({ args, job, enqueue, enqueueMany, transaction }) => {
      const options = { after: { parents: [job.id] }, tags: ['rest'] };
      const rolledBack = transaction(async () => {
        await enqueue(ship, { order: 9 });
        throw new Error('no');
      });
      await rolledBack.catch(() => undefined);
      await transaction(() => enqueueMany([{ definition: ship, args: { order: 8 }, options }]));
      await enqueue(bill, args, { delayMs: 60_000 });
    });
    const { enqueued } = await runJob(handler, { order: 7 });
    expect(enqueued.map(({ name, state, args }) => [name, state, args])).to.deep.equal([
      ['ship', 'awaiting', { order: 8 }],
      ['bill', 'scheduled', { order: 7 }],
    ]);
    expect(enqueued[0]).to.deep.include({ tags: ['rest'], enqueuedBy: enqueued[1]?.enqueuedBy });
  });
});

describe('What a handler under test can read', () => {
  const count = defineJob({ name: 'count', result: Type.Integer() });

  it('is given as parents, a batch and earlier errors', async () => {
    const handler = handleJob(ship, async ({ job, parents, batch, earlierErrors }) => {
      const found = await batch();
      const results: number[] = [];
      for await (const result of found?.results(count) ?? []) results.push(result);
      const failed: string[] = [];
      for await (const { name } of found?.failedJobs() ?? []) failed.push(name);
      const kinds = (await parents()).map(({ kind }) => kind);
      const errors = (await earlierErrors()).map(({ attempt, error }) => [attempt, error.message]);
      return { attempt: job.attempt, state: found?.state, results, failed, kinds, errors };
    });
    const { result } = await runJob(
      handler,
      { order: 1 },
      {
        parents: [{ name: 'bill', result: { cents: 100 } }, null],
        batch: {
          jobs: [
            { name: 'count', result: 7 },
            { name: 'bill', error: new Error('no') },
          ],
        },
        earlierErrors: [new RangeError('first')],
      },
    );
    expect(result).to.deep.equal({
      attempt: 2,
      state: 'failed',
      results: [7],
      failed: ['bill'],
      kinds: ['job', 'deleted', 'batch'],
      errors: [[1, 'first']],
    });
  });

  it('is compared with the definitions as in a server', async () => {
    const handler = handleJob(ship, async ({ parents }) => (await parents([bill]))[0].result?.cents);
    const billed = { parents: [{ name: 'bill', result: { cents: 100 } }] };
    expect((await runJob(handler, { order: 1 }, billed)).result).to.equal(100);
    const error = await failureOf(runJob(handler, { order: 1 }, { parents: [{ name: 'ship' }] }));
    expect(error).to.have.property('message').that.contains('parent 0 is a job "ship"');
  });
});

const hourMs = 3_600_000;

describe('Jobs in a test', () => {
  const shipped: number[] = [];
  const handlers = [
    handleJob(ship, ({ args }) => shipped.push(args.order)),
    handleJob(bill, async ({ args }) => {
      await jobs.client.enqueue(ship, args, { delayMs: 60_000 });
      return { cents: 100 };
    }),
  ];
  let jobs: TestJobs;

  beforeEach(() => {
    shipped.length = 0;
    jobs = new TestJobs({ handlers });
  });

  it('are drained with what they enqueue, and by the clock', async () => {
    await jobs.client.enqueue(bill, { order: 7 });
    expect(await jobs.drain()).to.include({ done: 1, failed: 0 });
    await jobs.assertEnqueued(ship, { args: { order: 7 }, runAt: new Date(jobs.clock.now() + 60_000) });
    expect(shipped).to.deep.equal([]);
    jobs.clock.advance(60_000);
    expect(await jobs.drain()).to.include({ done: 1 });
    expect(shipped).to.deep.equal([7]);
  });

  it('are drained together with their dependents', async () => {
    const { id } = await jobs.client.enqueue(bill, { order: 1 });
    await jobs.client.enqueue(ship, { order: 2 }, { after: { parents: [id] }, queue: 'elsewhere' });
    expect(await jobs.drain()).to.include({ done: 2 });
    expect(shipped).to.deep.equal([2]);
  });

  it('report failed attempts', async () => {
    const fail = (): never => {
      throw new Error('storm');
    };
    jobs = new TestJobs({ handlers: [handleJob(ship, fail)] });
    await jobs.client.enqueue(ship, { order: 1 });
    const { retrying, errors } = await jobs.drain();
    expect([retrying, errors[0]?.message]).to.deep.equal([1, 'storm']);
  });

  it('fail an assertion with a list of what is enqueued', async () => {
    await jobs.client.enqueue(ship, { order: 1 });
    const error = await failureOf(jobs.assertEnqueued(ship, { args: { order: 2 } }));
    expect(error).to.be.instanceOf(AssertionError);
    expect(error).to.have.property(
      'message',
      'No job "ship" is enqueued with { args: { order: 2 } }. Enqueued:\n  ship in shipping: { order: 1 }',
    );
    expect(await failureOf(jobs.refuteEnqueued(ship))).to.be.instanceOf(AssertionError);
    await jobs.refuteEnqueued(bill);
  });

  it('exist once the transaction commits', async () => {
    const enqueue = (order: number) =>
      jobs.transaction(async (transaction) => {
        await transaction.query('insert into orders values ($1)', [order]);
        await jobs.client.enqueue(ship, { order }, { transaction });
        if (order === 1) throw new Error('no');
      });
    await failureOf(enqueue(1));
    await enqueue(2);
    expect((await jobs.enqueued(ship)).map(({ args }) => args.order)).to.deep.equal([2]);
  });

  it('run once when a recurring job is due, and stay drained until it is due again', async () => {
    const nightly = defineRecurringJob({
      id: 'nightly',
      definition: bill,
      cron: '0 3 * * *',
      args: { order: 1 },
    });
    const options = {
      handlers,
      application: 'shop',
      recurring: [nightly],
      logger: silentLogger,
      ...patientServer,
    };
    const run = () => runOnce({ storage: jobs.storage, ...options });
    expect(await run()).to.include({ done: 0, drained: true });
    jobs.clock.advance(24 * hourMs);
    expect(await run()).to.include({ done: 1, drained: true });
    expect(await run()).to.include({ done: 0, drained: true });
  });

  it('cannot be drained if they are paused, and the error names them', async () => {
    await jobs.client.enqueue(ship, { order: 1 });
    await jobs.storage.queues.pause('shipping');
    expect(await failureOf(jobs.drain()))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/1 jobs are left that cannot run, .*: ship in shipping \(enqueued\)/);
  });

  it('are drained by a running server', async () => {
    const server = new JobServer({ storage: jobs.storage, handlers, logger: silentLogger, ...patientServer });
    await server.start();
    await jobs.client.enqueue(ship, { order: 1 });
    await drain(server, { timeoutMs: hourMs });
    expect(shipped).to.deep.equal([1]);
    await server.stop();
  });

  it('may be in Postgres', async () => {
    const database = await createTestDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    try {
      const client = new JobClient(storage);
      await client.enqueueMany([{ definition: ship, args: { order: 1 } }]);
      await assertEnqueued(storage, ship, { args: { order: 1 } });
      expect(await drain(storage, { handlers, timeoutMs: hourMs })).to.include({ done: 1 });
    } finally {
      await storage.close();
      await database.drop();
    }
  });
});
