import { defineJob, JobClient } from '@longshore/jobs';
import type { ServerRegistration } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { lockQueues } from '../src/connection/database.sql.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'busy' });

describe('Global locks', () => {
  let database: TestDatabase;
  let locking: PostgresStorage;
  let ordinary: PostgresStorage;
  let writer: pg.Client;
  let server: ServerRegistration;

  before(async () => {
    database = await createStoreDatabase();
    locking = new PostgresStorage({ url: database.url, ...patientStorage, disableGlobalLocks: false });
    ordinary = new PostgresStorage({ url: database.url, ...patientStorage });
    await locking.open();
    const description = {
      host: 'x',
      pid: 1,
      queues: ['busy', 'other'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    };
    server = await locking.servers.register(description);
    writer = new pg.Client(database.url);
    await writer.connect();
  });

  after(async () => {
    await writer.end();
    await server.unregister();
    await locking.close();
    await ordinary.close();
    await database.drop();
  });

  /**
   * Calls `act` while another transaction has locked the queue `busy`. Commits that transaction once `then` has
   * resolved, and resolves to the result of `act`.
   */
  async function duringWrite<Result>(
    act: () => Promise<Result>,
    then: (acting: Promise<Result>) => Promise<unknown>,
  ): Promise<Result> {
    await writer.query('begin');
    await writer.query(
      lockQueues.text.replace('$1', `(select array[id] from longshore.queue where name = 'busy')`),
    );
    const acting = act();
    await then(acting);
    await writer.query('commit');
    return acting;
  }

  const waits = async (): Promise<void> => {
    await eventually(
      () => database.waitingForLocks(),
      (waiting) => waiting === 1,
    );
  };

  const enqueue = (storage: PostgresStorage, queue = 'busy', key?: string): Promise<unknown> =>
    new JobClient(storage).enqueue(work, {}, { queue, ...(key !== undefined && { unique: { key } }) });

  const claim = (queue: string): Promise<unknown[]> =>
    locking.claims.claim({ serverId: server.id, queue, limit: 10, leaseMs: 3_600_000 });

  it('serialize writers that enqueue into one queue', async () => {
    await duringWrite(() => enqueue(locking), waits);
  });

  it('serialize writers that enqueue with a unique key', async () => {
    await duringWrite(() => enqueue(locking, 'busy', 'a'), waits);
  });

  it('serialize claims and completions', async () => {
    await enqueue(locking);
    const claimed = await duringWrite(() => claim('busy'), waits);
    expect(claimed.length).to.be.greaterThan(0);
    const [job] = claimed as { claim: Parameters<typeof locking.claims.release>[0][number] }[];
    const completions =
      job === undefined ? [] : [{ claim: job.claim, outcome: { kind: 'done', result: 'null' } as const }];
    expect(await duringWrite(() => locking.completions.complete(completions), waits)).to.deep.equal([]);
  });

  it('let writers of two queues write concurrently', async () => {
    await duringWrite(
      () => enqueue(locking, 'other'),
      (enqueued) => enqueued,
    );
    await duringWrite(
      () => claim('other'),
      (claimed) => claimed,
    );
  });

  it('are not taken by a storage that has them disabled, as by default', async () => {
    await duringWrite(
      () => enqueue(ordinary),
      (enqueued) => enqueued,
    );
  });

  it('lose no job of many writers', async () => {
    const enqueued = await Promise.all(
      Array.from({ length: 5 }, () =>
        new JobClient(locking).enqueueMany(
          [1, 2, 3].map(() => ({ definition: { ...work, queue: 'many' }, args: {} })),
        ),
      ),
    );
    expect(enqueued.flat()).to.have.length(15);
    expect((await locking.jobs.count({ queue: ['many'] })).count).to.equal(15);
  });
});
