import { fileURLToPath } from 'node:url';
import type { Scenario } from '../bench.js';
import { type Service, startService } from '../http/service.js';
import type { Row } from '../result.js';
import { median } from '../statistics.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));

const count = 10_000;
const hourMs = 3_600_000;

interface LargeRequest {
  readonly name: string;
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: string;
}

interface Waits {
  /** The longest response time of a small request while the large one was carried out, in milliseconds. */
  readonly longestMs: number;
  readonly largeMs: number;
  readonly smallRequests: number;
}

/** Measures how long the largest requests keep other requests to the same API service waiting. */
export const largeRequests: Scenario = {
  name: 'large-requests',
  run: async (bench) => {
    const url = await bench.database.create();
    const api = await startService('services/api/dist/main.js', {
      DATABASE_URL: url,
      LONGSHORE_APP: application,
      API_BODY_LIMIT_BYTES: String(32 * 1024 * 1024),
    });
    try {
      const requests = await prepare(api);
      for (const request of requests) await measure(api, request); // warm-up
      const results = await bench.interleave(requests, (request) => measure(api, request));
      return {
        title: `Longest wait of a small request during one for ${count} jobs`,
        rows: [...results].map(([request, waits]) => row(request, waits)),
        ratios: [],
      };
    } finally {
      await api.stop();
      await bench.database.drop(url);
    }
  },
};

async function prepare(api: Service): Promise<LargeRequest[]> {
  const jobs = Array.from({ length: count }, (_, n) => ({ name: 'bench', args: { n }, queue: 'large' }));
  const scheduled = jobs.map((job) => ({ ...job, delayMs: hourMs }));
  const response = await send(api, 'POST', '/jobs', JSON.stringify(scheduled));
  const items = (await response.json()) as { id: string; args: unknown }[];
  const edits = items.map(({ id, args }) => ({ id, args, queue: 'large', priority: 3 }));
  const padded = { ...jobs[0], args: { n: 1, values: Array.from({ length: 500_000 }, () => 0) } };
  return [
    { name: 'an array of jobs', method: 'POST', path: '/jobs', body: JSON.stringify(jobs) },
    { name: 'a batch', method: 'POST', path: '/batches', body: JSON.stringify({ jobs }) },
    { name: 'edits of jobs', method: 'PUT', path: '/jobs', body: JSON.stringify(edits) },
    { name: 'half a million values', method: 'POST', path: '/jobs', body: JSON.stringify(padded) },
  ];
}

/** Sends small requests one after the other until the large one has been answered. */
async function measure(api: Service, { method, path, body }: LargeRequest): Promise<Waits> {
  let isAnswered = false;
  const startedAt = performance.now();
  const large = send(api, method, path, body).then(async (response) => {
    await response.arrayBuffer();
    isAnswered = true;
    return performance.now() - startedAt;
  });
  let longestMs = 0;
  let smallRequests = 0;
  const goesOn = (): boolean => !isAnswered;
  while (goesOn()) {
    const askedAt = performance.now();
    await (await fetch(`${api.url}/healthz`)).arrayBuffer();
    longestMs = Math.max(longestMs, performance.now() - askedAt);
    smallRequests += 1;
  }
  return { longestMs, largeMs: await large, smallRequests };
}

/** @throws {Error} if the service rejects the request for anything but its content */
async function send(api: Service, method: string, path: string, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${api.url}/api/v1${path}`, { method, headers, body });
  if (!response.ok && response.status !== 422)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

function row({ name, method, path }: LargeRequest, waits: readonly Waits[]): Row {
  const longest = waits.map(({ longestMs }) => longestMs);
  return {
    name,
    settings: `${method} ${path}`,
    figures: {
      'longest wait ms': median(longest),
      'large request ms': median(waits.map(({ largeMs }) => largeMs)),
      'small requests': median(waits.map(({ smallRequests }) => smallRequests)),
    },
    rounds: longest,
  };
}
