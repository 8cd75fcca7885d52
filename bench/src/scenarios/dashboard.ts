import { setTimeout as pause } from 'node:timers/promises';
import { PostgresStorage } from 'longshore';
import type { Scenario } from '../bench.js';
import { fillForDashboard } from '../dashboard/history.js';
import { addLandmarks, type Landmarks } from '../dashboard/landmarks.js';
import { openPage, watchOverview } from '../dashboard/viewer.js';
import { startService, type Service } from '../http/service.js';
import { processorTime } from '../processor-time.js';
import type { Row } from '../result.js';
import { percentile } from '../statistics.js';

const password = 'bench';
const headers = { authorization: `Basic ${Buffer.from(`bench:${password}`).toString('base64')}` };

/**
 * Pause between rounds, in milliseconds. The dashboard's cached reads expire in this time, so each round reads from the
 * storage.
 */
const cacheExpiryMs = 1_100;

/**
 * Number of rounds before the measurement. In these rounds, V8 compiles the code, and each of the dashboard's four
 * connections plans its statements. Pages rarely use the fourth connection, so several rounds are needed.
 */
const warmUpRounds = 10;

/**
 * The pages to measure, including job lists filtered by queues and names with many, some and few jobs. `ID` is replaced
 * by the id of a failed job; `GRAPH`, `BATCH` and `RECURRING` are replaced by the ids of the landmarks.
 */
const pages = [
  '',
  'jobs',
  'jobs?state=failed',
  'jobs?state=done',
  'jobs?queue=queue-1',
  'jobs?queue=queue-90',
  'jobs?queue=queue-1000',
  'jobs?name=name-0',
  'jobs?name=name-7&state=done',
  'jobs?name=name-190',
  'jobs?name=none',
  'jobs?tag=none',
  'jobs?words=ship',
  'jobs?words=none',
  'jobs?error=none',
  'jobs?args.n=77',
  'jobs?args.order.id=77',
  'jobs?by=name',
  'jobs?state=failed&by=error',
  'jobs?queue=queue-1&by=args.order.id',
  'jobs/ID',
  'jobs/GRAPH',
  'queues',
  'queues/queue-1',
  'queues/queue-1?range=24h&before=day',
  'queues/queue-1?range=30d&before=week',
  '?range=24h&before=day',
  '?range=30d',
  'types',
  'types?since=24h&sort=running',
  'types/name-0',
  'types/name-0?range=7d&before=week',
  'bulk/confirm?action=retry&state=failed&name=name-7',
  'recurring',
  'recurring/RECURRING',
  'batches',
  'batches/BATCH',
  'set-aside',
  'errors',
  'errors?since=7d',
  'servers',
  'audit',
  'bulk',
  'logs',
  'logs?state=failed',
  'logs?name=name-0',
  'tenants',
  'incidents',
  'new-job',
  'help',
];

/** Text that a page contains while one of its regions is still loading. */
const partial = 'data-every="500"';

/** Measures the dashboard on a store with a long history: every kind of page, and many viewers of the overview. */
export const dashboard: Scenario = {
  name: 'dashboard',
  run: async (bench) => {
    const { sizes } = bench;
    const url = await bench.database.create();
    let service: Service | undefined;
    try {
      const storage = new PostgresStorage({ url });
      await storage.open();
      await storage.close();
      bench.note(`filling a store with ${sizes.dashboardFinished} finished jobs`);
      await fillForDashboard(url, sizes);
      const landmarks = await addLandmarks(url);
      await bench.database.settle();
      const env = {
        DATABASE_URL: url,
        DASHBOARD_PASSWORD: password,
        DASHBOARD_TENANT: 'args.order.id',
        WORKER_STOP_TIMEOUT_MS: '0',
      };
      service = await startService('services/dashboard/dist/main.js', env);
      const rows = await measurePages(`${service.url}/job-dashboard/`, landmarks, sizes.dashboardRounds);
      const viewers = await measureViewers(service, sizes.dashboardViewers, sizes.dashboardSeconds);
      const slowest = Math.max(...rows.map(({ figures }) => figures['p95 ms'] ?? NaN));
      const slowestWhole = Math.max(...rows.map(({ figures }) => figures['whole p95 ms'] ?? NaN));
      return {
        title: `Dashboard: ${sizes.dashboardFinished} finished jobs, ${sizes.dashboardQueues} queues`,
        rows,
        ratios: [
          { name: 'slowest page, p95 ms', value: slowest, target: { atMost: 50 } },
          { name: 'slowest page until it is whole, p95 ms', value: slowestWhole },
          { name: `${sizes.dashboardViewers} viewers of the overview, requests/s`, value: viewers.requests },
          { name: `${sizes.dashboardViewers} viewers, cores`, value: viewers.cores, target: { atMost: 0.1 } },
        ],
      };
    } finally {
      await service?.stop();
      await bench.database.drop(url);
    }
  },
};

async function measurePages(
  base: string,
  { graphId, batchId, recurringId }: Landmarks,
  rounds: number,
): Promise<Row[]> {
  const ids = { ID: await someFailed(base), GRAPH: graphId, BATCH: batchId, RECURRING: recurringId };
  const measured = pages.map((page) => ({
    page,
    firstMs: NaN,
    times: [] as number[],
    whole: [] as number[],
    bytes: 0,
  }));
  for (let round = -Math.min(warmUpRounds, rounds); round < rounds; round++) {
    for (const row of measured) {
      const url =
        base + row.page.replace(/\b(ID|GRAPH|BATCH|RECURRING)$/, (key) => ids[key as keyof typeof ids]);
      const startedAt = performance.now();
      let { html, bytes } = await fetchPage(url);
      const tookMs = performance.now() - startedAt;
      row.bytes = bytes;
      if (Number.isNaN(row.firstMs)) row.firstMs = tookMs;
      while (html.includes(partial)) {
        await pause(100);
        ({ html } = await fetchPage(url));
      }
      if (round < 0) continue;
      row.times.push(tookMs);
      row.whole.push(performance.now() - startedAt);
    }
    await pause(cacheExpiryMs);
  }
  return measured.map(({ page, firstMs, times, whole, bytes }) => ({
    name: `/${page}`,
    settings: '',
    figures: {
      'p95 ms': percentile(times, 0.95),
      'p50 ms': percentile(times, 0.5),
      'whole p95 ms': percentile(whole, 0.95),
      'first ever ms': firstMs,
      'bytes gzipped': bytes,
    },
  }));
}

async function fetchPage(url: string): Promise<{ html: string; bytes: number }> {
  const response = await fetch(url, { headers });
  const html = await response.text();
  if (response.status !== 200) throw new Error(`GET ${url}: ${response.status}`);
  return { html, bytes: Number(response.headers.get('content-length')) };
}

async function someFailed(base: string): Promise<string> {
  const list = await fetch(`${base}jobs?state=failed`, { headers });
  const id = /jobs\/([\da-f-]{36})"/.exec(await list.text())?.[1];
  if (id === undefined) throw new Error('No job has failed');
  return id;
}

async function measureViewers(
  { url, pid }: Service,
  viewers: number,
  seconds: number,
): Promise<{ requests: number; cores: number }> {
  const overview = `${url}/job-dashboard/`;
  const etags = await openPage(overview, headers);
  const watchAll = (): Promise<number[]> =>
    Promise.all(Array.from({ length: viewers }, () => watchOverview(overview, headers, seconds, etags)));
  // Warms up: V8 takes about half a minute to optimize the code; until then, the CPU time is a quarter higher.
  await watchAll();
  await watchAll();
  const before = (await processorTime(pid ?? 0)) ?? NaN;
  const counts = await watchAll();
  const cores = (((await processorTime(pid ?? 0)) ?? NaN) - before) / (seconds * 1_000);
  const requests = counts.reduce((sum, count) => sum + count, 0) / seconds;
  return { requests, cores };
}
