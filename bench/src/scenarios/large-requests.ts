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
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body: string | undefined;
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
  const dependent = jobs.slice(0, 1_900).map((job, n) => {
    const parents = Array.from({ length: Math.min(n, 100) }, (_, back) => n - 1 - back);
    return parents.length === 0 ? job : { ...job, after: { parents } };
  });
  const tagged = jobs.slice(0, 2_000).map((job, n) => ({ ...job, tags: [longWord(n)] }));
  await send(api, 'POST', '/jobs', JSON.stringify(tagged));
  const words = Array.from({ length: 10 }, (_, n) => longWord(n + 10_000)).join(' ');
  const padded = { ...jobs[0], args: { n: 1, values: Array.from({ length: 500_000 }, () => 0) } };
  return [
    { name: 'an array of jobs', method: 'POST', path: '/jobs', body: JSON.stringify(jobs) },
    { name: 'a batch', method: 'POST', path: '/batches', body: JSON.stringify({ jobs }) },
    { name: 'edits of jobs', method: 'PUT', path: '/jobs', body: JSON.stringify(edits) },
    { name: 'a hundred parents each', method: 'POST', path: '/jobs', body: JSON.stringify(dependent) },
    { name: 'ten long words', method: 'GET', path: `/jobs?q=${encodeURIComponent(words)}`, body: undefined },
    { name: 'half a million values', method: 'POST', path: '/jobs', body: JSON.stringify(padded) },
  ];
}

/** Returns a word of 49 letters that differs from others only at its end, so that comparing them takes longest. */
function longWord(n: number): string {
  const end = [n, n / 26, n / 676, n / 17_576].map((part) =>
    String.fromCodePoint(97 + (Math.floor(part) % 26)),
  );
  return 'longshore'.repeat(5) + end.join('');
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
async function send(api: Service, method: string, path: string, body: string | undefined): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
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
