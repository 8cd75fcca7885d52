import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, defineRecurringJob, handleJob, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Bench, Scenario } from '../bench.js';
import { connected } from '../database.js';
import { type Row, ratioOf } from '../result.js';
import { median } from '../statistics.js';

const tick = defineJob({ name: 'tick' });
const everySecond = defineRecurringJob({ id: 'tick', definition: tick, args: {}, cron: '* * * * * *' });
const samples = 20;
const settleMs = 2_000;

/**
 * Measures the cost of a million recurring jobs that are not due. Also measures the delay of a job that is due every
 * second.
 */
export const recurringDefinitions: Scenario = {
  name: 'recurring-definitions',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const few = await measure(bench, 10);
    const many = await measure(bench, bench.sizes.recurringJobs);
    return {
      title: 'Recurring jobs: one that is due every second, among others',
      rows: [many, few],
      ratios: [ratioOf(many, few, { atMost: 2 })],
    };
  },
};

async function measure(bench: Bench, others: number): Promise<Row> {
  const { idleSeconds } = bench.sizes;
  const url = await bench.database.create();
  const storage = new PostgresStorage({ url });
  await storage.open();
  const late: number[] = [];
  const handlers = [handleJob(tick, () => void late.push(Date.now() % 1_000))];
  const server = new JobServer({ storage, handlers });
  try {
    await fill(url, others);
    const polls: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const startedMs = performance.now();
      await storage.recurring.fireDue(100);
      polls.push(performance.now() - startedMs);
    }
    await storage.recurring.addOrUpdate(everySecond);
    await server.start();
    await pause(settleMs);
    late.length = 0;
    const before = (await bench.database.processorTime()) ?? NaN;
    await pause(idleSeconds * 1_000);
    const after = (await bench.database.processorTime()) ?? NaN;
    const figures = {
      'poll p50 ms': median(polls),
      'late by p50 ms': late.length === 0 ? NaN : median(late),
      'late by max ms': late.length === 0 ? NaN : Math.max(...late),
      'postgres %': (after - before) / idleSeconds / 10,
    };
    return { name: `${others} others`, settings: '', figures };
  } finally {
    await server.stop();
    await storage.close();
    await bench.database.drop(url);
  }
}

/** Writes yearly recurring jobs. They become due one second apart, starting in an hour. */
async function fill(url: string, count: number): Promise<void> {
  await connected(url, async (client) => {
    await client.query(
      `insert into longshore.recurring_job
          (id, name, args, queue, priority, max_attempts, cron, time_zone, misfire, misfire_limit, overlap, tags, next_due_at)
        select 'other-' || n, 'other', '{}', 'default', 0, 10, '0 0 1 1 *', 'UTC', $2, 1, $3, '{}',
          now() + interval '1 hour' + n * interval '1 second'
        from generate_series(1, $1::integer) as n`,
      [count, everySecond.misfire, everySecond.overlap],
    );
    await client.query('vacuum analyze longshore.recurring_job');
  });
}
