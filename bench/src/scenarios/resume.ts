import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Scenario } from '../bench.js';
import { ratioOf, type Row } from '../result.js';
import { median, percentile } from '../statistics.js';

/** Jobs of one kind come due at this interval, in milliseconds. */
const dueEveryMs = 40;

/** When the first job comes due, in milliseconds from the start. All jobs that sleep are asleep by then. */
const leadMs = 5_000;

/**
 * Measures how late a handler goes on after its sleep, compared with how late a plain scheduled job starts. Both read
 * the clock of the machine that Postgres runs on.
 */
export const resume: Scenario = {
  name: 'resume',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { latencyJobs: count } = bench.sizes;
    const url = await bench.database.create();
    const storage = new PostgresStorage({ url });
    await storage.open();
    const client = new JobClient(storage);
    const late = { sleeping: [] as number[], plain: [] as number[] };
    const sleeping = defineJob({ name: 'sleeping' });
    const plain = defineJob({ name: 'plain' });
    const server = new JobServer({
      storage,
      handlers: [
        handleJob(sleeping, async ({ args, sleep }) => {
          const { dueMs } = args as { dueMs: number };
          await sleep('nap', { until: new Date(dueMs) });
          late.sleeping.push(Date.now() - dueMs);
        }),
        handleJob(plain, ({ args }) => {
          late.plain.push(Date.now() - (args as { dueMs: number }).dueMs);
        }),
      ],
      concurrency: 24,
    });
    try {
      await server.start();
      const firstMs = Date.now() + leadMs;
      const naps = Array.from({ length: count }, (_, index) => firstMs + index * dueEveryMs);
      await client.enqueueMany(naps.map((dueMs) => ({ definition: sleeping, args: { dueMs } })));
      await client.enqueueMany(
        naps.map((napMs) => {
          const dueMs = napMs + dueEveryMs / 2;
          return { definition: plain, args: { dueMs }, options: { runAt: new Date(dueMs) } };
        }),
      );
      const lastMs = firstMs + count * dueEveryMs;
      while (late.sleeping.length + late.plain.length < 2 * count) {
        if (Date.now() > lastMs + 30_000)
          throw new Error(
            `Of ${count} jobs each, ${late.sleeping.length} woke and ${late.plain.length} started`,
          );
        await pause(10);
      }
      const rows = [row('after a sleep', late.sleeping), row('plain scheduled job', late.plain)];
      const [slept, scheduled] = rows;
      return {
        title: `How late ${count} jobs go on after a sleep, and ${count} plain scheduled jobs start`,
        rows,
        ratios: slept && scheduled ? [ratioOf(slept, scheduled, { atMost: 1.5 })] : [],
      };
    } finally {
      await server.stop();
      await storage.close();
      await bench.database.drop(url);
    }
  },
};

function row(name: string, lateMs: readonly number[]): Row {
  const figures = {
    'p50 ms': median(lateMs),
    'p95 ms': percentile(lateMs, 0.95),
    'p99 ms': percentile(lateMs, 0.99),
    'max ms': Math.max(...lateMs),
  };
  return { name, settings: '', figures };
}
