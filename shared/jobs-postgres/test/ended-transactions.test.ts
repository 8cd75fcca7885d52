import { type TransactionClient, TransactionEndedError } from '@longshore/jobs';
import { type Claim, newId } from '@longshore/jobs/storage';
import { stepOf } from '@longshore/jobs-storage-tests';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { type PostgresOptions, PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const hourMs = 3_600_000;

/** What a handler can do to end the transaction that it was lent. */
const endings: Readonly<Record<string, readonly string[]>> = {
  'commits it': ['commit'],
  'ends it': ['end'],
  'rolls it back': ['rollback'],
  'aborts it': ['abort'],
  'prepares it': ["prepare transaction 'theirs'"],
  'commits it and begins another': ['commit', 'begin'],
  'commits it and begins another in one call': ['commit; begin'],
  'commits it with a chained one': ['commit and chain'],
  'rolls it back with a chained one': ['rollback and chain'],
  'commits it after a failed statement': ['select 1 / 0', 'commit'],
};

/** An older version of `pg`, which does not report the state of the transaction. */
class OlderClient extends pg.Client {
  override getTransactionStatus = undefined as unknown as pg.Client['getTransactionStatus'];
}

/** What a transaction runs on. */
const places = [
  'the storage’s pool',
  'the application’s pool',
  'a pool of an older driver',
  'a pooler',
] as const;

describe('A transaction that the handler ends', () => {
  let database: TestDatabase;
  const pools: pg.Pool[] = [];
  const storages = new Map<string, PostgresStorage>();
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    await database.query('create table note (text text)');
    const poolOf = (Client: typeof pg.Client): pg.Pool => {
      const pool = new pg.Pool({ connectionString: database.url, max: 2, Client });
      pools.push(pool);
      return pool;
    };
    const { url } = database;
    const options: Record<(typeof places)[number], Partial<PostgresOptions>> = {
      'the storage’s pool': { url, poolSize: 1 },
      'the application’s pool': { pool: poolOf(pg.Client) },
      'a pool of an older driver': { pool: poolOf(OlderClient) },
      'a pooler': { url, pooler: 'transaction' },
    };
    for (const [place, given] of Object.entries(options)) {
      const opened = new PostgresStorage({ ...patientStorage, ...given });
      await opened.open();
      storages.set(place, opened);
    }
  });

  beforeEach(() => use('the storage’s pool'));

  afterEach(async () => {
    const prepared = await database.query<{ gid: string }>('select gid from pg_prepared_xacts');
    for (const { gid } of prepared) await database.query(`rollback prepared '${gid}'`);
  });

  after(async () => {
    for (const opened of storages.values()) await opened.close();
    for (const pool of pools) await pool.end();
    await database.drop();
  });

  function use(place: (typeof places)[number]): void {
    storage = storages.get(place) ?? expect.fail(place);
  }

  async function claimOne(): Promise<Claim> {
    const [id, queue] = [newId(), newId()];
    await storage.enqueuer.enqueue([
      { id, queue, name: 'work', args: '{}', priority: 0, maxAttempts: 3, due: null },
    ]);
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: hourMs };
    const { id: serverId } = await storage.servers.register(description);
    await storage.claims.claim({ serverId, queue, limit: 1, leaseMs: hourMs });
    return { jobId: id, queue, serverId, attempt: 1 };
  }

  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => null,
      (error: unknown) => error,
    );

  async function write(client: TransactionClient, statements: readonly string[]): Promise<void> {
    await client.query("insert into note values ('written')");
    for (const statement of statements) await errorOf(Promise.resolve(client.query(statement)));
  }

  const steps = async ({ jobId: id, queue }: Claim): Promise<number> =>
    (await storage.steps.read({ id, queue })).steps.length;

  for (const place of places)
    for (const [how, statements] of Object.entries(endings))
      it(`is an error, and stores no step, if it ${how}, on ${place}`, async () => {
        use(place);
        const claim = await claimOne();
        const error = await errorOf(
          storage.steps.recordInTransaction(claim, async (client) => {
            await write(client, statements);
            return stepOf('one');
          }),
        );
        expect(error).to.be.instanceOf(TransactionEndedError);
        expect(await steps(claim)).to.equal(0);
      });

  it('does not end the job', async () => {
    const claim = await claimOne();
    const ending = storage.completions.completeInTransaction(claim, async (client) => {
      await write(client, ['commit']);
      return 'null';
    });
    expect(await errorOf(ending)).to.be.instanceOf(TransactionEndedError);
    expect((await storage.jobs.find(claim.jobId))?.state).to.equal('processing');
  });

  for (const [how, statements] of Object.entries({
    'it has committed': ['commit'],
    'it has begun another': ['commit', 'begin'],
    'another has failed': ['commit', 'begin', 'select 1 / 0'],
  }))
    it(`is the error, with what the handler throws as its cause, after ${how}`, async () => {
      const claim = await claimOne();
      const thrown = new Error('of the handler');
      const error = await errorOf(
        storage.steps.recordInTransaction(claim, async (client) => {
          await write(client, statements);
          throw thrown;
        }),
      );
      expect(error).to.be.instanceOf(TransactionEndedError).with.property('cause', thrown);
    });

  it('leaves nothing of its session to the next one', async () => {
    const claim = await claimOne();
    const ending = storage.steps.recordInTransaction(claim, async (client) => {
      await write(client, ['set search_path = nowhere', 'select pg_advisory_lock(4711)', 'commit']);
      return stepOf('one');
    });
    expect(await errorOf(ending)).to.be.instanceOf(TransactionEndedError);
    expect(await steps(claim)).to.equal(0);
    const locks = "select from pg_locks where locktype = 'advisory' and objid = 4711";
    expect(await database.query(locks)).to.deep.equal([]);
  });

  it('is none if the handler uses savepoints, and resets all settings', async () => {
    const claim = await claimOne();
    await storage.steps.recordInTransaction(claim, async (client) => {
      await write(client, ['savepoint one', 'select 1 / 0', 'rollback to savepoint one', 'release one']);
      await write(client, ['reset all']);
      return stepOf('one');
    });
    expect(await steps(claim)).to.equal(1);
  });

  it('is none if the work throws: the error reaches the caller', async () => {
    const claim = await claimOne();
    const thrown = new Error('of the handler');
    const error = await errorOf(storage.steps.recordInTransaction(claim, () => Promise.reject(thrown)));
    expect(error).to.equal(thrown);
  });
});
