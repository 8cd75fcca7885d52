import { fileURLToPath } from 'node:url';
import type { Bench, Scenario } from '../bench.js';
import { connected } from '../database.js';
import { type Load, type LoadReport, postLoad } from '../http/load.js';
import { startService, type Service } from '../http/service.js';
import { processorTime } from '../processor-time.js';
import { ratioOf, type Row } from '../result.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));

/** Measures requests that enqueue jobs, while a worker is running. The API responds once the job is durable. */
export const http: Scenario = {
  name: 'http',
  run: async (bench) => {
    const { httpConnections: connections, httpSeconds: seconds } = bench.sizes;
    const url = await bench.database.create();
    const env = { DATABASE_URL: url, LONGSHORE_APP: application, WORKER_STOP_TIMEOUT_MS: '0' };
    const services: Service[] = [];
    try {
      const bare = await startService('bench/dist/http/bare-server.js', {});
      services.push(bare);
      const koa = await startService('bench/dist/http/koa-server.js', {});
      services.push(koa);
      const api = await startService('services/api/dist/main.js', env);
      services.push(api);
      const worker = await startService('services/worker/dist/main.js', env);
      services.push(worker);

      const load = { connections, seconds };
      const job = JSON.stringify({ name: 'bench', args: { n: 10_000_000_000_000 } });
      const post = { ...load, url: `${api.url}/api/v1/jobs`, body: job };
      await postLoad({ ...post, seconds: Math.ceil(seconds / 4) }); // warm-up
      const bareRow = row('bare node:http', await postLoad({ ...load, url: bare.url, body: job }));
      const koaRow = row('Koa that does nothing', await postLoad({ ...load, url: koa.url, body: job }));
      const system = { bench, url, api, worker };
      const jobs = await measured(system, 'longshore, POST /api/v1/jobs', post);
      const test = await measured(system, 'longshore, POST /test', { ...load, url: `${api.url}/test` });
      await bench.inspect('longshore', url);
      return {
        title: `HTTP: ${connections} connections, ${seconds} s each, worker running`,
        rows: [jobs, test, koaRow, bareRow],
        ratios: [ratioOf(jobs, koaRow), ratioOf(jobs, bareRow), ratioOf(test, bareRow)],
      };
    } finally {
      await Promise.all(services.map((service) => service.stop()));
      await bench.database.drop(url);
    }
  },
};

interface System {
  readonly bench: Bench;
  readonly url: string;
  readonly api: Service;
  readonly worker: Service;
}

/**
 * Measures one kind of request, and verifies that every accepted job is in the store. Reports the CPU time of each
 * service and of Postgres per request, but not that of the load generator.
 */
async function measured({ bench, url, api, worker }: System, name: string, load: Load): Promise<Row> {
  const times = (): Promise<(number | null)[]> =>
    Promise.all([
      processorTime(api.pid ?? 0),
      processorTime(worker.pid ?? 0),
      bench.database.processorTime(),
    ]);
  const jobsBefore = await jobCount(url);
  await bench.database.settle();
  const before = await times();
  const report = await postLoad(load);
  const after = await times();
  const made = (await jobCount(url)) - jobsBefore;
  const requests = report['2xx'];
  if (made < requests) throw new Error(`${name}: ${requests} answers, but only ${made} jobs`);
  const perRequest = after.map((ms, index) => (1_000 * ((ms ?? NaN) - (before[index] ?? NaN))) / requests);
  const [apiTime = NaN, workerTime = NaN, postgresTime = NaN] = perRequest;
  return row(name, report, { 'api µs': apiTime, 'worker µs': workerTime, 'postgres µs': postgresTime });
}

function row(
  name: string,
  { requests, latency }: LoadReport,
  perRequest: Readonly<Record<string, number>> = {},
): Row {
  const figures = {
    'requests/s': requests.average,
    'p50 ms': latency.p50,
    'p97.5 ms': latency.p97_5,
    'p99 ms': latency.p99,
    ...perRequest,
  };
  return { name, settings: '', figures };
}

function jobCount(url: string): Promise<number> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ jobs: number }>(
      'select coalesce(sum(jobs), 0)::integer as jobs from longshore.job_count',
    );
    return rows[0]?.jobs ?? 0;
  });
}
