import { defineJob, handleJob, JobServer, MemoryStorage, StorageUnavailableError } from '@longshore/jobs';
import { httpClient, ManualClock, overriding, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import {
  createLogger,
  drain,
  type HttpListener,
  listen,
  processMetrics,
  storageHealth,
  whenAvailable,
} from '../src/index.js';

describe('The health of a service', () => {
  const work = defineJob({ name: 'work' });
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
    health = storageHealth(processMetrics('test'), storage, { now: clock.now });
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

  for (const path of ['/metrics/', '/METRICS', '//metrics', '/%6detrics', '/./metrics', '/metrics/storage/'])
    it(`is not served at ${path}, which a gateway may not recognize as /metrics`, async () => {
      expect((await get(path)).status).to.equal(404);
    });

  it('is not ready while it is stopping, but still serves', async () => {
    await storage.open();
    health.opened();
    expect((await get('/readyz')).status).to.equal(200);
    await drain(health, { HTTP_DRAIN_MS: 0 });
    const response = await get('/readyz');
    expect([response.status, response.text]).to.deep.equal([
      503,
      '{"status":"not ready","reason":"the service is stopping"}',
    ]);
    expect((await get('/healthz')).status).to.equal(200);
  });

  it('is not ready before its storage is open, and says why', async () => {
    const response = await get('/readyz');
    expect(response.status).to.equal(503);
    expect(response.json()).to.include({ reason: 'the storage is not open yet' });
  });

  it('is not ready while a step of its start fails, and says why', async () => {
    const error = new StorageUnavailableError('at 10.0.0.1', { summary: 'The tables are old' });
    expect(await health.starts(Promise.reject(error)).catch((thrown: unknown) => thrown)).to.equal(error);
    expect((await get('/readyz')).json()).to.include({ reason: 'The tables are old' });
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
    const needing = storageHealth(processMetrics('test'), storage, { check });
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
