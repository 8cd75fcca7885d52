import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  StorageClosedError,
  StorageUnavailableError,
} from '@longshore/jobs';
import {
  eventually,
  patientServer,
  patientStorage,
  TcpProxy,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { createApplicationDatabase, PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

/** Only the limit that these tests are about is short. */
const impatient = { ...patientStorage, silenceTimeoutMs: 1_000 };

describe('A Postgres that stops answering without closing its connections', () => {
  const work = defineJob({ name: 'work' });
  let database: TestDatabase;
  let proxy: TcpProxy;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    proxy = await TcpProxy.start(Number(new URL(database.url).port));
    storage = new PostgresStorage({ url: proxy.urlOf(database.url), ...impatient });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await proxy.close();
    await database.drop();
  });

  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'succeeded',
      (error: unknown) => error,
    );

  const failsAsSilent = async (call: Promise<unknown>): Promise<void> => {
    const error = await errorOf(call);
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(String(error)).to.include('has not responded').and.include('silenceTimeoutMs');
  };

  it('makes calls fail although their own limits are an hour, and new ones until it answers', async () => {
    const client = new JobClient(storage);
    await client.enqueue(work);
    proxy.lose();
    await failsAsSilent(client.enqueue(work));
    await failsAsSilent(storage.jobs.list({ limit: 1 }));
    proxy.recover();
    await eventually(() => client.enqueue(work));
  });

  it('is followed by another server, to which new connections lead while the old ones are silent', async () => {
    const client = new JobClient(storage);
    await storage.jobs.list({ limit: 1 }); // leaves its connection idle; a notification could still use that of an enqueue
    proxy.lose();
    proxy.recover();
    await failsAsSilent(client.enqueue(work));
    await client.enqueue(work);
  });

  it('makes a single call fail, however many idle connections are silent and whatever pool they belong to', async () => {
    const client = new JobClient(storage);
    const calls = (): Promise<unknown>[] => [
      ...Array.from({ length: 8 }, () => storage.queues.pause('default')),
      ...Array.from({ length: 4 }, () => storage.jobs.list({ limit: 1 })),
    ];
    await Promise.all(calls());
    proxy.lose();
    proxy.recover();
    await failsAsSilent(client.enqueue(work));
    await Promise.all(calls());
  });

  it('closes no connection that somebody has borrowed for one that is lost', async () => {
    const application = createApplicationDatabase({ url: proxy.urlOf(database.url), ...impatient });
    const lost = await application.pool.connect();
    proxy.lose();
    proxy.recover();
    const borrowed = await application.pool.connect();
    expect(await errorOf(lost.query('select 1'))).to.include({ code: 'ETIMEDOUT' });
    lost.release(true);
    expect((await borrowed.query('select 1')).rowCount).to.equal(1);
    borrowed.release();
    await application.close();
  });

  it('makes every waiting caller fail, also those that wait for a connection', async () => {
    const client = new JobClient(storage);
    await client.enqueue(work);
    proxy.lose();
    await Promise.all(Array.from({ length: 40 }, () => failsAsSilent(storage.queues.pause('default'))));
  });

  it('is noticed while new statements are sent all the time', async () => {
    const busy = new PostgresStorage({ url: proxy.urlOf(database.url), ...impatient, poolSize: 300 });
    const client = new JobClient(busy);
    await client.enqueue(work);
    proxy.lose();
    const errors: unknown[] = [];
    const calls: Promise<unknown>[] = [];
    // Each call opens another connection and sends something, which the kernel accepts.
    await eventually(
      () => {
        calls.push(errorOf(busy.ping()).then((error) => errors.push(error)));
        return errors.length;
      },
      (failed) => failed > 0,
    );
    expect(calls).to.have.length.below(200);
    expect(String(errors[0])).to.include('has not responded');
    await Promise.all(calls);
    await busy.close();
  });

  it('makes transactions on a pool of the application fail', async () => {
    const pool = new pg.Pool({ connectionString: proxy.urlOf(database.url), max: 1 });
    pool.on('error', () => undefined);
    const shared = new PostgresStorage({ pool, ...impatient });
    const client = new JobClient(shared);
    await client.enqueue(work);
    proxy.lose();
    await Promise.all([failsAsSilent(client.enqueue(work)), failsAsSilent(shared.queues.pause('default'))]);
    proxy.recover();
    await eventually(() => client.enqueue(work));
    await shared.close();
    await pool.end();
  });

  it('makes statements of the application fail on the pools that the storage creates for it', async () => {
    const application = createApplicationDatabase({ url: proxy.urlOf(database.url), ...impatient });
    for (const pool of [application.pool, application.reads]) {
      await pool.query('select 1');
      proxy.lose();
      const error = await errorOf(pool.query('select 1'));
      expect(error).to.include({ code: 'ETIMEDOUT' });
      proxy.recover();
      await eventually(() => pool.query('select 1'));
    }
    await application.close();
  });

  it('does not turn the use of closed pools into errors of the driver', async () => {
    const application = createApplicationDatabase({ url: proxy.urlOf(database.url), ...impatient });
    await application.pool.query('select 1');
    proxy.freeze();
    const waiting = errorOf(application.pool.query('select 1'));
    await application.close();
    expect(await errorOf(application.pool.query('select 1'))).to.be.instanceOf(StorageClosedError);
    expect(await errorOf(application.reads.connect())).to.be.instanceOf(StorageClosedError);
    expect(String(await waiting)).not.to.include('after calling end');
    proxy.thaw();
  });

  it('delays neither the end of a server nor that of the storage', async () => {
    const endless = defineJob({ name: 'endless' });
    const handlers = [handleJob(endless, () => new Promise<never>(() => undefined))];
    const server = new JobServer({ storage, ...patientServer, stopTimeoutMs: 500, handlers });
    await server.start();
    await new JobClient(storage).enqueue(endless);
    await eventually(() => server.running === 1);
    proxy.lose();
    await server.stop();
    await storage.close();
    storage = new PostgresStorage({ url: database.url, ...impatient });
  });

  it('does not cost a server its place for longer than it lasts', async () => {
    const server = new JobServer({ storage, ...patientServer, handlers: [handleJob(work, () => 'done')] });
    await server.start();
    await eventually(() => storage.notificationsArrive);
    proxy.lose();
    await failsAsSilent(storage.readClock());
    proxy.recover();
    const { id } = await eventually(() => new JobClient(storage).enqueue(work));
    await eventually(
      () => storage.jobs.find(id),
      (job) => job?.state === 'done',
    );
    await eventually(() => storage.notificationsArrive);
    await server.stop();
  });

  it('is not mistaken for one that runs a long statement', async () => {
    const application = createApplicationDatabase({ url: proxy.urlOf(database.url), ...impatient });
    const lock = new pg.Client(database.url);
    await lock.connect();
    await lock.query('begin; lock table longshore.queue');
    const waits = application.pool.query('select from longshore.queue limit 1');
    // Far longer than the limit: the server is asked several times, over connections that it lists.
    const asked = new Set<string>();
    await eventually(async () => {
      for (const { at } of await database.query<{ at: string }>(
        `select state_change::text as at from pg_stat_activity where application_name like '% probe' and datname = current_database()`,
      ))
        asked.add(at);
      return asked.size >= 6;
    });
    await lock.query('rollback');
    await lock.end();
    expect((await waits).rowCount).to.be.a('number');
    await application.close();
  });
});
