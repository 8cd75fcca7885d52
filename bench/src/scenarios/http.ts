import { fileURLToPath } from 'node:url';
import type { Bench, Scenario } from '../bench.js';
import { connected } from '../database.js';
import { type LoadReport, postLoad } from '../http/load.js';
import { startService, type Service } from '../http/service.js';
import { ratioOf, type Row } from '../result.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));

/** Measures requests that enqueue jobs, while a worker is running. The api responds once a job is durable. */
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
      services.push(await startService('services/worker/dist/main.js', env));

      const load = { connections, seconds };
      const job = JSON.stringify({ name: 'bench', args: { n: 10_000_000_000_000 } });
      const post = { ...load, url: `${api.url}/api/v1/jobs`, body: job };
      await postLoad({ ...post, seconds: Math.ceil(seconds / 4) }); // warm-up
      const bareRow = row('bare node:http', await postLoad({ ...load, url: bare.url, body: job }));
      const koaRow = row('Koa that does nothing', await postLoad({ ...load, url: koa.url, body: job }));
      const jobs = await measured(bench, url, 'POST /api/v1/jobs', post);
      const test = await measured(bench, url, 'POST /test', { ...load, url: `${api.url}/test` });
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

/** Measures one kind of request, and verifies that every accepted job is in the store. */
async function measured(
  bench: Bench,
  databaseUrl: string,
  name: string,
  load: Parameters<typeof postLoad>[0],
): Promise<Row> {
  const before = await jobCount(databaseUrl);
  await bench.database.settle();
  const report = await postLoad(load);
  const made = (await jobCount(databaseUrl)) - before;
  if (made < report['2xx']) throw new Error(`${name}: ${report['2xx']} answers, but only ${made} jobs`);
  return row(name, report);
}

function row(name: string, { requests, latency }: LoadReport): Row {
  const figures = {
    'requests/s': requests.average,
    'p50 ms': latency.p50,
    'p97.5 ms': latency.p97_5,
    'p99 ms': latency.p99,
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
