import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  MemoryStorage,
  StorageUnavailableError,
  SnoozeJob,
} from '@longshore/jobs';
import { eventually, httpClient, ManualClock, overriding, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { createLogger, type HttpListener, listen, storageHealth, whenAvailable } from '../src/index.js';

describe('The health of a service', () => {
  const work = defineJob({ name: 'work' });
  const fail = (): never => {
    throw new Error('no');
  };
  const listening = {
    HOST: '127.0.0.1',
    PORT: 0,
    HTTP_MAX_CONNECTIONS: 100,
    HTTP_MAX_CONNECTIONS_PER_ADDRESS: 100,
    HTTP_KEEP_ALIVE_MS: 75_000,
    HTTP_STOP_TIMEOUT_MS: 3_600_000,
  };
  const quiet = createLogger('test', 'silent');
  let clock: ManualClock;
  let storage: MemoryStorage;
  let listener: HttpListener;
  let health: ReturnType<typeof storageHealth>;

  beforeEach(async () => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock });
    health = storageHealth('test', storage, { now: clock.now });
    const app = new Koa();
    app.use(health.routes.routes());
    listener = await listen(app, listening, quiet);
  });

  afterEach(async () => {
    await listener.close();
  });

  const get = (path: string) => httpClient(`http://127.0.0.1:${listener.port}`).get(path);

  it('is alive before its storage is open', async () => {
    expect((await get('/healthz')).status).to.equal(200);
  });

  for (const path of ['/metrics/', '/METRICS', '//metrics', '/%6detrics', '/./metrics'])
    it(`is not served at ${path}, which a gateway may not recognize as /metrics`, async () => {
      expect((await get(path)).status).to.equal(404);
    });

  it('is not ready before its storage is open, and says why', async () => {
    const response = await get('/readyz');
    expect(response.status).to.equal(503);
    expect(response.json()).to.include({ reason: 'the storage is not open yet' });
  });

  it('is ready once its storage is open', async () => {
    health.opened();
    expect((await get('/readyz')).status).to.equal(200);
  });

  it('is not ready while its storage cannot be reached', async () => {
    health.opened();
    storage.ping = () => Promise.reject(new StorageUnavailableError('away'));
    expect((await get('/readyz')).status).to.equal(503);
  });

  /** Returns the response of a service that needs something else, which fails with this error. */
  async function readinessAfter(error: Error) {
    const check = async (): Promise<never> => {
      throw error;
    };
    const needing = storageHealth('test', storage, { check });
    needing.opened();
    const app = new Koa();
    const reported: unknown[] = [];
    app.on('error', (reportedError: unknown) => reported.push(reportedError));
    app.use(needing.routes.routes());
    const other = await listen(app, listening, quiet);
    const response = await httpClient(`http://127.0.0.1:${other.port}`).get('/readyz');
    await other.close();
    const { reason } = response.json() as { reason: string };
    return { status: response.status, reason, reported };
  }

  it('is not ready while something else that it needs cannot be reached', async () => {
    const away = new StorageUnavailableError('nothing at 10.1.2.3:5432', { summary: 'no tables' });
    expect(await readinessAfter(away)).to.include({ status: 503, reason: 'no tables' });
  });

  for (const error of [
    new StorageUnavailableError('connect ECONNREFUSED 10.1.2.3:5432'),
    new Error('connect ECONNREFUSED 10.1.2.3:5432'),
    new Error('password authentication failed for user "shop" at db.internal'),
  ])
    it(`shows no address if it is not ready because of "${error.message}"`, async () => {
      const { status, reason } = await readinessAfter(error);
      expect(status).to.equal(503);
      expect(reason).to.not.match(/10\.1|internal|shop/);
    });

  it('reports an error that it cannot show, so that the log has it', async () => {
    const error = new Error('connect ECONNREFUSED 10.1.2.3:5432');
    expect((await readinessAfter(error)).reported).to.deep.equal([error]);
  });

  it('answers that it is not ready while its storage does not answer', async () => {
    health.opened();
    storage.ping = () => new Promise(() => undefined);
    expect((await get('/readyz')).status).to.equal(503);
  });

  it('is not ready while its job server cannot claim jobs', async () => {
    const server = new JobServer({ storage, handlers: [handleJob(work, () => null)], ...patientServer });
    let stalledMs = 0;
    health.runs(Object.defineProperty(overriding(server, {}), 'stalledMs', { get: () => stalledMs }));
    await server.start();
    health.opened();
    expect((await get('/readyz')).status).to.equal(200);
    stalledMs = 7_000;
    expect((await get('/readyz')).json()).to.include({
      reason: 'the job server has not been able to claim jobs for 7 s',
    });
    await server.stop();
  });

  it('is measured: waiting jobs of each queue, and for how long', async () => {
    await new JobClient(storage).enqueue(work, {});
    clock.advance(2_500);
    const { text } = await get('/metrics');
    expect(text).to.contain('longshore_queue_jobs{queue="default",state="enqueued",service="test"} 1');
    expect(text).to.contain('longshore_queue_oldest_seconds{queue="default",service="test"} 2.5');
    expect(text).to.contain('longshore_queue_paused{queue="default",service="test"} 0');
  });

  for (const { outcome, run } of [
    { outcome: 'done', run: () => null },
    { outcome: 'failed', run: fail },
  ]) {
    it(`is measured: attempts that ended ${outcome}, and how long they took`, async () => {
      const server = new JobServer({ storage, handlers: [handleJob(work, run)], ...patientServer });
      health.runs(server);
      await server.start();
      const { id } = await new JobClient(storage).enqueue(work, {}, { maxAttempts: 1 });
      await eventually(
        async () => (await storage.jobs.find(id))?.state,
        (state) => state === outcome,
      );
      await server.stop();
      const { text } = await get('/metrics');
      expect(text).to.contain(`longshore_attempts_total{name="work",outcome="${outcome}",service="test"} 1`);
      expect(text).to.contain('longshore_attempt_seconds_count{service="test",name="work"} 1');
      expect(text).to.contain('longshore_wait_seconds_count{service="test",queue="default",name="work"} 1');
    });
  }

  it('is measured: running times are those of the statistics, without snoozed and suspended attempts', async () => {
    let runs = 0;
    const handler = handleJob(work, async ({ sleep }) => {
      runs++;
      if (runs === 1) throw new SnoozeJob(1);
      await sleep('pause', { ms: 1_000 });
    });
    const server = new JobServer({ storage, handlers: [handler], ...patientServer });
    health.runs(server);
    await server.start();
    const { id } = await new JobClient(storage).enqueue(work, {});
    await eventually(
      async () => {
        clock.advance(10);
        return (await storage.jobs.find(id))?.state;
      },
      (state) => state === 'done',
    );
    await server.stop();
    const { text } = await get('/metrics');
    const [, seconds] = /longshore_attempt_seconds_sum\{[^}]*\} (\S+)/.exec(text) ?? [];
    const until = new Date(clock.now() + 60_000);
    const buckets = await storage.timings.read({
      from: new Date(clock.now() - 120_000),
      until,
      bucketMs: 60_000,
    });
    const ranMs = buckets.reduce((sum, { timing }) => sum + timing.running.sumMs, 0);
    expect(Number(seconds) * 1_000).to.be.closeTo(ranMs, 1e-6);
    expect(text).to.contain('longshore_attempts_total{name="work",outcome="suspended",service="test"} 1');
    expect(text).to.contain('longshore_attempt_seconds_count{service="test",name="work"} 1');
  });

  it('is measured: the five hundred longest queues, and the rest in total', async () => {
    const client = new JobClient(storage);
    await client.enqueueMany(
      Array.from({ length: 600 }, (_, index) => ({
        definition: work,
        args: {},
        options: { queue: `q${index}` },
      })),
    );
    await client.enqueue(work, {}, { queue: 'q599' });
    const lines = (await get('/metrics')).text.split('\n');
    const ready = lines.filter((line) => /^longshore_queue_jobs\{.*state="enqueued"/.test(line));
    expect(ready).to.have.lengthOf(501);
    expect(ready).to.include('longshore_queue_jobs{queue="q599",state="enqueued",service="test"} 2');
    expect(ready).to.include('longshore_queue_jobs{queue="(others)",state="enqueued",service="test"} 100');
  });

  it('is measured at most once a second', async () => {
    let reads = 0;
    storage.jobs.stateCounts = () => {
      reads += 1;
      return new MemoryStorage().jobs.stateCounts();
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => get('/metrics')));
    clock.advance(999);
    answers.push(await get('/metrics'));
    expect([new Set(answers.map(({ status }) => status)), reads]).to.deep.equal([new Set([200]), 1]);
    clock.advance(1);
    expect([(await get('/metrics')).status, reads]).to.deep.equal([200, 2]);
  });

  it('is measured: jobs by state and running servers', async () => {
    const { text, headers } = await get('/metrics');
    expect(headers['content-type']).to.contain('text/plain');
    expect(text).to.contain('longshore_jobs{state="enqueued",service="test"} 0');
    expect(text).to.contain('longshore_servers{service="test"} 0');
  });
});

describe('Opening the storage of a service', () => {
  const quiet = createLogger('test', 'silent');

  it('waits for a storage that cannot be reached yet', async () => {
    const storage = new MemoryStorage();
    let attempts = 0;
    storage.open = () => {
      attempts++;
      return attempts < 2 ? Promise.reject(new StorageUnavailableError('starting')) : Promise.resolve();
    };
    await whenAvailable(() => storage.open(), quiet, new AbortController().signal);
    expect(attempts).to.equal(2);
  });

  it('does not wait if that cannot help', async () => {
    const storage = new MemoryStorage();
    storage.open = () => Promise.reject(new Error('permission denied'));
    const error = await whenAvailable(() => storage.open(), quiet, new AbortController().signal).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('message', 'permission denied');
  });

  it('ends when the service is stopped', async () => {
    const storage = new MemoryStorage();
    const stop = new AbortController();
    storage.open = () => {
      stop.abort(new Error('stopped'));
      return Promise.reject(new StorageUnavailableError('starting'));
    };
    const error = await whenAvailable(() => storage.open(), quiet, stop.signal).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('message', 'stopped');
  });
});
