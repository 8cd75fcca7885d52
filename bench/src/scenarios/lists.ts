import { fileURLToPath } from 'node:url';
import { PostgresStorage } from 'longshore';
import type { Bench, Scenario } from '../bench.js';
import { fillForDashboard } from '../dashboard/history.js';
import { startService } from '../http/service.js';
import type { Row } from '../result.js';
import { median, percentile } from '../statistics.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));

/** Lists to measure: sorted lists, and lists filtered by values that many, some or few jobs have. */
const lists = [
  'jobs',
  'jobs?state=failed',
  'jobs?state=done&queue=queue-1',
  'jobs?queue=queue-9',
  'jobs?name=name-0&state=done',
  'jobs?name=name-7',
  'jobs?sort=createdAt',
  'jobs?sort=-createdAt&state=failed',
  'jobs?limit=100',
  'queues?sort=name',
  'queues?sort=-name',
  'batches',
  'recurring-jobs',
  'servers',
];

const warmUpRounds = 10;

/** Compares the list endpoints of the API on a large store with the same endpoints on a small one. */
export const listEndpoints: Scenario = {
  name: 'lists',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { fewListed, manyListed } = bench.sizes;
    const few = await measure(bench, fewListed);
    const many = await measure(bench, manyListed);
    const rows = lists.map((list): Row => {
      const [large = [NaN], small = [NaN]] = [many.get(list), few.get(list)];
      const [p99, smallP99] = [percentile(large, 0.99), percentile(small, 0.99)];
      const figures = {
        'p99 ratio': p99 / smallP99,
        'p99 ms': p99,
        'p50 ms': median(large),
        'small p99 ms': smallP99,
        'small p50 ms': median(small),
      };
      return { name: `GET /${list}`, settings: '', figures };
    });
    const worst = Math.max(...rows.map(({ figures }) => figures['p99 ratio'] ?? NaN));
    return {
      title: `Lists of the API: ${manyListed} finished jobs compared with ${fewListed}`,
      rows,
      ratios: [{ name: 'worst p99, large / small', value: worst, target: { atMost: 2 } }],
    };
  },
};

/** Returns the response times of each list, in milliseconds. */
async function measure(bench: Bench, finished: number): Promise<Map<string, number[]>> {
  const { sizes } = bench;
  const url = await bench.database.create();
  try {
    const storage = new PostgresStorage({ url });
    await storage.open();
    await storage.close();
    bench.note(`filling a store with ${finished} finished jobs`);
    await fillForDashboard(url, { ...sizes, dashboardFinished: finished });
    await bench.database.settle();
    const api = await startService('services/api/dist/main.js', {
      DATABASE_URL: url,
      LONGSHORE_APP: application,
    });
    try {
      return await timesOf(`${api.url}/api/v1/`, sizes.listRounds);
    } finally {
      await api.stop();
    }
  } finally {
    await bench.database.drop(url);
  }
}

async function timesOf(base: string, rounds: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(lists.map((list) => [list, []]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [list, taken] of times) {
      const startedMs = performance.now();
      const response = await fetch(base + list);
      await response.text();
      if (!response.ok) throw new Error(`GET /${list}: ${response.status}`);
      if (round >= 0) taken.push(performance.now() - startedMs);
    }
  }
  return times;
}
