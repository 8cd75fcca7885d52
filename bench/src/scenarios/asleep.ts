import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Agent } from '../agent/agent.js';
import type { Bench, Scenario } from '../bench.js';
import type { Row } from '../result.js';
import { median } from '../statistics.js';
import { readFigures, statisticsDelayMs } from '../store-figures.js';

/** In the queue that the idle servers of agents have. */
const sleeper = defineJob({ name: 'sleeper', queue: 'queue-0' });
const monthMs = 30 * 86_400_000;

/** Number of idle servers of each database, each in its own process. */
const servers = 5;

/** How long servers idle before they are measured, because a server polls more often at first. */
const settleMs = 60_000;

/**
 * Measures what jobs cost that sleep for a month: memory and transactions of idle servers beside them, compared with
 * those of idle servers on an empty database.
 */
export const asleep: Scenario = {
  name: 'asleep',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { sleepingJobs } = bench.sizes;
    const urls = { empty: await bench.database.create(), full: await bench.database.create() };
    try {
      for (const [url, jobs] of [
        [urls.empty, 1], // one, so that both databases have the queue and the tables in use
        [urls.full, sleepingJobs],
      ] as const)
        await putToSleep(url, jobs);
      const rows = await measure(bench, [
        { name: `${sleepingJobs} jobs asleep`, url: urls.full },
        { name: 'one job asleep', url: urls.empty },
      ]);
      const difference = (figure: string): number =>
        (rows[0]?.figures[figure] ?? NaN) - (rows[1]?.figures[figure] ?? NaN);
      return {
        title: `Jobs that sleep for a month: one of ${servers} idle servers beside them`,
        rows,
        ratios: [
          {
            name: 'memory for the sleeping jobs, MiB',
            value: difference('median MiB'),
            target: { atMost: 4 },
          },
          { name: 'transactions/s for them', value: difference('transactions/s'), target: { atMost: 0.1 } },
        ],
      };
    } finally {
      for (const url of Object.values(urls)) await bench.database.drop(url);
    }
  },
};

/** Runs `count` jobs until all of them sleep. */
async function putToSleep(url: string, count: number): Promise<void> {
  const storage = new PostgresStorage({ url });
  await storage.open();
  const client = new JobClient(storage);
  const handler = handleJob(sleeper, ({ sleep }) => sleep('month', { ms: monthMs }));
  const server = new JobServer({ storage, handlers: [handler], queues: ['queue-0'], concurrency: 96 });
  try {
    await client.enqueueMany(Array.from({ length: count }, () => ({ definition: sleeper, args: {} })));
    await server.start();
    for (;;) {
      const { scheduled, done, failed } = await storage.jobs.stateCounts();
      if (done + failed > 0) throw new Error(`${done} jobs ended and ${failed} failed instead of sleeping`);
      if (scheduled === count) return;
      await pause(100);
    }
  } finally {
    await server.stop();
    await storage.close();
  }
}

/** Starts idle servers on all databases at once, and measures one database's after the other's. */
async function measure(
  bench: Bench,
  databases: readonly { readonly name: string; readonly url: string }[],
): Promise<Row[]> {
  const { idleSeconds } = bench.sizes;
  const agents = new Map<string, Agent[]>();
  try {
    for (const { url } of databases) {
      const started: Agent[] = [];
      agents.set(url, started);
      for (let count = 0; count < servers; count++) {
        const agent = await bench.agent('longshore', url);
        started.push(agent);
        await agent.perform('idle', 1, 1);
      }
    }
    await pause(settleMs);
    const before = await Promise.all(databases.map(({ url }) => readFigures(url)));
    await pause(idleSeconds * 1_000 + statisticsDelayMs);
    const after = await Promise.all(databases.map(({ url }) => readFigures(url)));
    const seconds = idleSeconds + statisticsDelayMs / 1_000;
    const rows: Row[] = [];
    for (const [index, { name, url }] of databases.entries()) {
      const bytes = await Promise.all((agents.get(url) ?? []).map((agent) => agent.perform('residentBytes')));
      const mebibytes = bytes.map((size) => size / 2 ** 20);
      const commits = (after[index]?.commits ?? NaN) - (before[index]?.commits ?? NaN);
      const figures = {
        'median MiB': median(mebibytes),
        'min MiB': Math.min(...mebibytes),
        'max MiB': Math.max(...mebibytes),
        'transactions/s': commits / seconds / servers,
      };
      rows.push({ name, settings: '', figures });
    }
    return rows;
  } finally {
    await Promise.all([...agents.values()].flat().map((agent) => agent.stop()));
  }
}
