import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Scenario } from '../bench.js';
import { connected } from '../database.js';
import { median, percentile, perSecond } from '../statistics.js';

const scheduled = defineJob({ name: 'scheduled' });
const urgent = defineJob({ name: 'urgent', queue: 'urgent' });

/**
 * Time allowed for writing the scheduled jobs, in milliseconds: one second per hundred thousand, plus three seconds.
 */
const leadMs = (jobs: number): number => 3_000 + jobs / 100;

const plainEveryMs = 50;

/**
 * Measures how soon scheduled jobs run when all of them become due at the same time. Also measures how long jobs in
 * another queue wait while the scheduled jobs run.
 */
export const dueAtOnce: Scenario = {
  name: 'due-at-once',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { dueJobs: count } = bench.sizes;
    const url = await bench.database.create();
    const storage = new PostgresStorage({ url });
    await storage.open();
    const client = new JobClient(storage);
    try {
      bench.note(`scheduling ${count} jobs`);
      await schedule(url, count);
      let ran = 0;
      let firstMs = NaN;
      let allRan: () => void = () => undefined;
      const finished = new Promise<void>((resolve) => (allRan = resolve));
      const waits: number[] = [];
      const onScheduled = (): void => {
        if (++ran === 1) firstMs = performance.now();
        if (ran === count) allRan();
      };
      const onUrgent = ({ n }: { n: number }): void => void waits.push(performance.now() - n);
      const server = new JobServer({
        storage,
        handlers: [
          handleJob(scheduled, onScheduled),
          handleJob(urgent, ({ args }) => onUrgent(args as { n: number })),
        ],
        queues: ['urgent', 'default'],
        concurrency: 24,
      });
      await server.start();
      const dueAtMs = performance.now() + (await msUntilDue(url));
      const send = setInterval(() => void client.enqueue(urgent, { n: performance.now() }), plainEveryMs);
      await finished;
      const tookMs = performance.now() - dueAtMs;
      clearInterval(send);
      await pause(500);
      await server.stop();
      const figures = {
        'jobs/s': perSecond(count, tookMs),
        'first late by ms': firstMs - dueAtMs,
        'last late by ms': tookMs,
        'other queue p50 ms': median(waits),
        'other queue p99 ms': percentile(waits, 0.99),
      };
      return {
        title: `${count} scheduled jobs that come due in one instant`,
        rows: [{ name: 'longshore', settings: 'one process, concurrency 24', figures }],
        ratios: [
          { name: 'other queue p99, ms', value: figures['other queue p99 ms'], target: { atMost: 250 } },
        ],
      };
    } finally {
      await storage.close();
      await bench.database.drop(url);
    }
  },
};

/** Writes scheduled jobs that are all due at the same time, with matching counters. */
async function schedule(url: string, count: number): Promise<void> {
  await connected(url, async (client) => {
    await client.query('set search_path to longshore, pg_catalog');
    await client.query(`insert into queue (name) values ('default') on conflict do nothing`);
    await client.query(
      `insert into job_scheduled (queue_id, id, run_at, max_attempts, name, args)
        select queue.id, gen_random_uuid(), now() + $2 * interval '1 ms', 10, 'scheduled', '{}'
        from queue, generate_series(1, $1::integer) where queue.name = 'default'`,
      [count, leadMs(count)],
    );
    await client.query(
      `insert into job_count (queue_id, state, jobs)
        select id, 'scheduled'::job_state, $1::bigint from queue where name = 'default'`,
      [count],
    );
    await client.query('vacuum analyze job_scheduled');
  });
}

/**
 * Returns the milliseconds until the scheduled jobs become due.
 *
 * @throws {Error} if they are already due
 */
function msUntilDue(url: string): Promise<number> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ ms: number }>(
      'select (extract(epoch from min(run_at) - clock_timestamp()) * 1000)::float8 as ms from longshore.job_scheduled',
    );
    const ms = rows[0]?.ms ?? -1;
    if (ms < 0) throw new Error('The scheduled jobs came due before the server had started');
    return ms;
  });
}
