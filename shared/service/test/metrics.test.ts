import {
  defineJob,
  type EnqueueContext,
  handleJob,
  JobClient,
  JobServer,
  type JobServerEvents,
  MemoryStorage,
  silentLogger,
  SnoozeJob,
  StorageUnavailableError,
} from '@longshore/jobs';
import { eventually, httpClient, ManualClock, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import type { Registry } from 'prom-client';
import {
  createLogger,
  type HttpListener,
  listen,
  measureEnqueued,
  measurePools,
  measureRequests,
  observeRequests,
  processMetrics,
  storageHealth,
} from '../src/index.js';
import { readStorageMetrics } from '../src/storage-metrics.js';
import { measureServer } from '../src/job-metrics.js';

const work = defineJob({ name: 'work' });

describe('The metrics of a service', () => {
  let clock: ManualClock;
  let storage: MemoryStorage;
  let listener: HttpListener;
  let registry: Registry;
  let health: ReturnType<typeof storageHealth>;

  beforeEach(async () => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock });
    registry = processMetrics('test', '4.2');
    health = storageHealth(registry, storage, { now: clock.now });
    const app = new Koa();
    app.use(observeRequests([measureRequests(registry, { refused: 3 })]));
    app.use(health.routes.routes());
    const listening = {
      HOST: '127.0.0.1',
      PORT: 0,
      HTTP_MAX_CONNECTIONS: 100,
      HTTP_MAX_CONNECTIONS_PER_ADDRESS: 100,
      HTTP_KEEP_ALIVE_MS: 75_000,
      HTTP_STOP_TIMEOUT_MS: 3_600_000,
    };
    listener = await listen(app, listening, createLogger('test', 'silent'));
  });

  afterEach(async () => {
    await listener.close();
  });

  const get = (path: string) => httpClient(`http://127.0.0.1:${listener.port}`).get(path);
  const scrape = async (path = '/metrics'): Promise<readonly string[]> =>
    (await get(path)).text.split('\n').filter((line) => !line.startsWith('#'));

  it('are Prometheus text, with the service and its versions', async () => {
    const { headers, text } = await get('/metrics');
    expect(headers['content-type']).to.contain('text/plain');
    expect(text).to.match(
      /^longshore_build_info\{service="test",version="[\d.]+",application_version="4.2"\} 1$/m,
    );
  });

  it('show whether the storage can be used', async () => {
    expect(await scrape()).to.include('longshore_storage_up 1');
    clock.advance(1_000);
    storage.ping = () => Promise.reject(new StorageUnavailableError('away'));
    expect(await scrape()).to.include('longshore_storage_up 0');
    clock.advance(1_000);
    storage.ping = () => new Promise(() => undefined);
    expect(await scrape()).to.include('longshore_storage_up 0');
  });

  it('are measured at most once a second', async () => {
    let reads = 0;
    storage.ping = async () => void reads++;
    const answers = await Promise.all(Array.from({ length: 10 }, () => get('/metrics')));
    clock.advance(999);
    answers.push(await get('/metrics'));
    expect([new Set(answers.map(({ status }) => status)), reads]).to.deep.equal([new Set([200]), 1]);
    clock.advance(1);
    expect([(await get('/metrics')).status, reads]).to.deep.equal([200, 2]);
  });

  it('count requests by method, route and status, and never by path', async () => {
    await get('/healthz?secret=1');
    await get('/no/such/path');
    await httpClient(`http://127.0.0.1:${listener.port}`).request('PATCH', '/healthz', {});
    const lines = await eventually(
      () => {
        clock.advance(1_000);
        return scrape();
      },
      (seen) => seen.some((line) => line.includes('PATCH')),
    );
    expect(lines).to.include('longshore_http_requests_total{method="GET",route="/healthz",status="200"} 1');
    expect(lines).to.include('longshore_http_requests_total{method="GET",route="(none)",status="404"} 1');
    expect(lines).to.include('longshore_http_requests_total{method="PATCH",route="(none)",status="404"} 1');
    expect(lines).to.include('longshore_http_request_seconds_count{method="GET",route="/healthz"} 1');
    expect(lines).to.include('longshore_http_rate_limited_requests_total 3');
  });

  it('show the connection pools', async () => {
    const pool = { name: 'writes', size: 10, inUse: 3, idle: 2, waiting: 4 };
    measurePools(registry, () => [{ ...pool, connects: 7, connectErrors: 1, connectMs: 1_500 }]);
    expect(await scrape()).to.include.members([
      'longshore_pool_connections{pool="writes",state="in_use"} 3',
      'longshore_pool_connections{pool="writes",state="idle"} 2',
      'longshore_pool_max_connections{pool="writes"} 10',
      'longshore_pool_waiting_calls{pool="writes"} 4',
      'longshore_pool_connects_total{pool="writes"} 7',
      'longshore_pool_connect_errors_total{pool="writes"} 1',
      'longshore_pool_connect_seconds_total{pool="writes"} 1.5',
    ]);
  });

  it('count the jobs that this process enqueues', async () => {
    const client = new JobClient(storage, { middleware: [measureEnqueued(registry)] });
    await client.enqueue(work, {});
    await client.enqueueMany([work, work].map((definition) => ({ definition, args: {} })));
    expect(await scrape()).to.include('longshore_jobs_enqueued_total{type="work"} 3');
  });

  for (const outcome of ['done', 'failed']) {
    it(`count attempts that ended ${outcome}, how long they waited, and how long they ran`, async () => {
      const run = (): null => {
        if (outcome === 'failed') throw new Error('no');
        return null;
      };
      const server = new JobServer({
        storage,
        handlers: [handleJob(work, run)],
        concurrency: 3,
        logger: silentLogger,
        ...patientServer,
      });
      health.runs(server);
      await server.start();
      const { id } = await new JobClient(storage).enqueue(work, {}, { maxAttempts: 1 });
      await eventually(
        async () => (await storage.jobs.find(id))?.state,
        (state) => state === outcome,
      );
      await server.stop();
      expect(await scrape()).to.include.members([
        `longshore_attempts_total{type="work",outcome="${outcome}"} 1`,
        'longshore_attempt_seconds_count{type="work"} 1',
        'longshore_wait_seconds_count{queue="default"} 1',
        'longshore_slots 3',
        'longshore_slots_busy 0',
        'longshore_leases_lost_total 0',
        'longshore_jobs_rescued_total{outcome="released"} 0',
        'longshore_servers_declared_dead_total 0',
      ]);
    });
  }

  it('show how long attempts ran as the statistics do, without snoozed and suspended attempts', async () => {
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
    const text = (await scrape()).join('\n');
    const [, seconds] = /longshore_attempt_seconds_sum\{[^}]*\} (\S+)/.exec(text) ?? [];
    const until = new Date(clock.now() + 60_000);
    const buckets = await storage.timings.read({
      from: new Date(clock.now() - 120_000),
      until,
      bucketMs: 60_000,
    });
    const ranMs = buckets.reduce((sum, { timing }) => sum + timing.running.sumMs, 0);
    expect(Number(seconds) * 1_000).to.be.closeTo(ranMs, 1e-6);
    expect(text).to.contain('longshore_attempts_total{type="work",outcome="suspended"} 1');
    expect(text).to.contain('longshore_attempt_seconds_count{type="work"} 1');
  });
});

describe('The metrics of a storage', () => {
  let clock: ManualClock;
  let storage: MemoryStorage;

  beforeEach(() => {
    clock = new ManualClock();
    storage = new MemoryStorage({ clock });
  });

  const read = async (): Promise<readonly string[]> =>
    (await (await readStorageMetrics(storage)).metrics()).split('\n').filter((line) => !line.startsWith('#'));

  it('are jobs by state, servers, and how late schedules are', async () => {
    expect(await read()).to.include.members([
      'longshore_jobs{state="enqueued"} 0',
      'longshore_servers 0',
      'longshore_recurring_overdue_seconds 0',
      'longshore_scheduled_overdue_seconds 0',
      'longshore_storage_failed_reads 0',
    ]);
  });

  it('are the jobs of each queue, how long they have waited, and whether it is paused', async () => {
    await new JobClient(storage).enqueue(work, {});
    clock.advance(2_500);
    expect(await read()).to.include.members([
      'longshore_queue_jobs{queue="default",state="enqueued"} 1',
      'longshore_queue_oldest_seconds{queue="default"} 2.5',
      'longshore_queue_paused{queue="default"} 0',
      'longshore_orphaned_jobs{queue="default",type="work",reason="no-server"} 1',
    ]);
  });

  it('are by how much scheduled and recurring jobs are overdue while no server runs', async () => {
    const client = new JobClient(storage);
    await client.enqueue(work, {}, { delayMs: 1_000 });
    await client.recurring.addOrUpdate({ id: 'hourly', definition: work, args: {}, every: '1 h' });
    clock.advance(2 * 3_600_000);
    const lines = await read();
    expect(lines).to.include('longshore_scheduled_overdue_seconds 7199');
    const recurring = lines.find((line) => line.startsWith('longshore_recurring_overdue_seconds '));
    expect(Number(recurring?.split(' ')[1])).to.be.within(3_600, 7_200);
  });

  it('leave out what cannot be read, and count it', async () => {
    storage.servers.list = () => Promise.reject(new StorageUnavailableError('away'));
    const lines = await read();
    expect(lines)
      .to.include('longshore_storage_failed_reads 1')
      .and.include('longshore_jobs{state="done"} 0');
    expect(lines.filter((line) => line.startsWith('longshore_servers'))).to.deep.equal([]);
  });

  it('are those of the hundred longest queues, and of the rest together', async () => {
    const client = new JobClient(storage);
    await client.enqueueMany(
      Array.from({ length: 150 }, (_, index) => ({
        definition: work,
        args: {},
        options: { queue: `q${index}` },
      })),
    );
    await client.enqueue(work, {}, { queue: 'q149' });
    await storage.queues.pause('q99');
    clock.advance(1_000);
    const lines = await read();
    const ready = lines.filter((line) => /^longshore_queue_jobs\{.*state="enqueued"/.test(line));
    expect(ready).to.have.lengthOf(101);
    expect(ready).to.include('longshore_queue_jobs{queue="q149",state="enqueued"} 2');
    expect(ready).to.include('longshore_queue_jobs{queue="(others)",state="enqueued"} 50');
    expect(lines).to.include('longshore_queue_oldest_seconds{queue="(others)"} 1');
    expect(lines).to.include('longshore_queue_paused{queue="(others)"} 1');
    expect(lines).to.include(
      'longshore_orphaned_jobs{queue="(others)",type="(others)",reason="no-server"} 50',
    );
  });
});

describe('The metrics of a process with 1,000 queues and 200 job types', () => {
  it('have fewer than 4,000 series and 400 kB', async () => {
    const registry = processMetrics('worker');
    const enqueued = measureEnqueued(registry);
    type Listeners = Partial<Record<keyof JobServerEvents, (event: never) => void>>;
    const listeners: Listeners = {};
    const on = ((name: keyof JobServerEvents, listener: (event: never) => void) => {
      listeners[name] = listener;
    }) as unknown as JobServer['on'];
    measureServer(registry, { on, concurrency: 10, running: 0, stalledMs: 0 });
    const types = Array.from({ length: 200 }, (_, index) => `type-${index}`);
    for (let queue = 0; queue < 1_000; queue++)
      for (const name of types) {
        const job = { id: `${queue} ${name}`, queue: `queue-${queue}`, name } as never;
        listeners.started?.({ job, waitedMs: 1, readyMs: 1 } as never);
        listeners.done?.({ job, ranMs: 1 } as never);
        listeners.failed?.({ job, ranMs: 1 } as never);
      }
    const requests = types.map((name) => ({ definition: { name } }));
    await enqueued({ requests } as unknown as EnqueueContext, async () => ({}) as never);
    const text = await registry.metrics();
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(series).to.have.length.below(4_000);
    expect(Buffer.byteLength(text)).to.be.below(400_000);
    expect(series).to.include('longshore_attempts_total{type="(others)",outcome="done"} 100000');
    expect(series).to.include('longshore_wait_seconds_count{queue="(others)"} 180000');
    expect(series).to.include('longshore_jobs_enqueued_total{type="(others)"} 100');
  });
});
