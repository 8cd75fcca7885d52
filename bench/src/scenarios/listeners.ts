import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench, Scenario } from '../bench.js';
import { connected } from '../database.js';
import { listen } from '../http/listeners.js';
import { type Service, startService } from '../http/service.js';
import type { Row } from '../result.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));

/** Measures what many idle listeners cost the API service, and how soon all of them are notified when a job ends. */
export const listeners: Scenario = {
  name: 'listeners',
  run: async (bench) => {
    const { listeners: count, listenSeconds: seconds } = bench.sizes;
    const kinds = [
      { name: 'GET /events', streams: true, path: () => '/events?state=done' },
      { name: 'GET /jobs/{id}/events', streams: true, path: (id: string) => `/jobs/${id}/events` },
      { name: 'GET /jobs/{id}?wait=60', streams: false, path: (id: string) => `/jobs/${id}?wait=60` },
    ];
    const rows: Row[] = [];
    for (const { name, streams, path } of kinds) {
      bench.note(name);
      rows.push(await measured(bench, { name, streams, path, count, seconds }));
    }
    return {
      title: `Listeners: ${count} at once, ${seconds} s of silence, then one job`,
      rows,
      ratios: [],
    };
  },
};

interface Kind {
  readonly name: string;
  readonly streams: boolean;
  readonly path: (jobId: string) => string;
  readonly count: number;
  readonly seconds: number;
}

/** Measures one kind of listener. All listeners wait for the same scheduled job. The job runs at the end. */
async function measured(bench: Bench, { name, streams, path, count, seconds }: Kind): Promise<Row> {
  const url = await bench.database.create();
  const env = {
    DATABASE_URL: url,
    LONGSHORE_APP: application,
    API_EMBEDDED_SERVER: 'true',
    WORKER_STOP_TIMEOUT_MS: '0',
  };
  const api = await startService('services/api/dist/main.js', env);
  try {
    const version = `${api.url}/api/v1`;
    const id = await enqueue(version, new Date(Date.now() + 3_600_000));
    const warmUp = await listen(
      Array.from({ length: 50 }, () => version + path(id)),
      streams,
    );
    warmUp.close();
    await pause(seconds * 100);

    const alone = await transactionsPerSecond(url, seconds);
    const before = await residentKib(api);
    const open = await listen(
      Array.from({ length: count }, () => version + path(id)),
      streams,
    );
    await pause(seconds * 200);
    const after = await residentKib(api);
    const perSecond = await transactionsPerSecond(url, seconds);
    const connections = await sessions(url);
    const told = open.delivered('"done"', count);
    await fetch(`${version}/jobs/${id}/run`, { method: 'PUT' });
    const tookMs = await told;
    open.close();
    const figures = {
      'KiB each': (after - before) / count,
      'database connections': connections,
      'transactions/s': perSecond,
      'without them': alone,
      'all told after ms': tookMs,
    };
    return { name, settings: '', figures };
  } finally {
    await api.stop();
    await bench.database.drop(url);
  }
}

async function enqueue(version: string, runAt: Date): Promise<string> {
  const body = JSON.stringify({ name: 'bench', args: {}, runAt: runAt.toISOString() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${version}/jobs`, { method: 'POST', headers, body });
  return ((await response.json()) as { id: string }).id;
}

/** Returns the resident memory of a service in KiB; NaN if the system does not report it. */
async function residentKib({ pid }: Service): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

async function transactionsPerSecond(url: string, seconds: number): Promise<number> {
  const before = await transactions(url);
  await pause(seconds * 1_000);
  return ((await transactions(url)) - before) / seconds;
}

function transactions(url: string): Promise<number> {
  return one(
    url,
    'select xact_commit::float8 as value from pg_stat_database where datname = current_database()',
  );
}

function sessions(url: string): Promise<number> {
  return one(
    url,
    `select count(*)::float8 as value from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
}

function one(url: string, sql: string): Promise<number> {
  return connected(url, async (client) => (await client.query<{ value: number }>(sql)).rows[0]?.value ?? NaN);
}
