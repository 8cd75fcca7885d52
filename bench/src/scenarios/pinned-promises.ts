import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type pg from 'pg';
import type { Scenario } from '../bench.js';
import { connected } from '../database.js';
import type { Row } from '../result.js';
import { median, percentile, perSecond } from '../statistics.js';
import { drainSample } from './drain-sample.js';

const limited = defineJob({ name: 'limited', queue: 'limited' });
const plain = defineJob({ name: 'plain', queue: 'plain' });
const concurrencyLimit = 10;
const rounds = 5;

/** Delay of a scheduled job, in milliseconds. Longer than the servers' poll interval for scheduled jobs. */
const delayMs = 1_500;

/**
 * Measures, while a transaction stays open and dead rows accumulate:
 * - the throughput of a queue with a concurrency limit
 * - how soon plain jobs and scheduled jobs start
 * - how soon a job starts if it commits after the scan cursors have passed its position
 */
export const pinnedPromises: Scenario = {
  name: 'pinned-promises',
  run: (bench) =>
    bench.withAgents(['longshore'], async (agent) => {
      if (!agent) throw new RangeError('A contender is missing');
      const { jobs, singleJobs, latencyJobs } = bench.sizes;
      const storage = new PostgresStorage({ url: agent.url });
      const client = new JobClient(storage);
      await storage.queues.limit(limited.queue, { concurrencyLimit });
      let onJob: () => void = () => undefined;
      const handlers = [handleJob(limited, () => onJob()), handleJob(plain, () => onJob())];
      const server = new JobServer({ storage, handlers, queues: ['limited', 'plain'], concurrency: 20 });
      await server.start();

      /** Calls `enqueue`. Resolves to the time until `count` jobs have run, in milliseconds. */
      const timeToRun = async (count: number, enqueue: () => Promise<unknown>): Promise<number> => {
        let ran = 0;
        const finished = new Promise<void>((resolve) => {
          onJob = () => void (++ran === count && resolve());
        });
        const startedMs = performance.now();
        await enqueue();
        await finished;
        return performance.now() - startedMs;
      };

      const measure = async (caller: pg.Client): Promise<Record<string, number>> => {
        const limitedJobs = Math.ceil(singleJobs / 10);
        const limitedMs = await timeToRun(limitedJobs, () =>
          client.enqueueMany(Array.from({ length: limitedJobs }, () => ({ definition: limited, args: {} }))),
        );
        const late: number[] = [];
        const soon: number[] = [];
        const overdue: number[] = [];
        for (let sample = 0; sample < Math.ceil(latencyJobs / 10); sample++) {
          await caller.query('begin');
          await client.enqueue(plain, {}, { transaction: caller });
          soon.push(await timeToRun(1, () => client.enqueue(plain, {})));
          late.push(await timeToRun(1, () => caller.query('commit')));
          overdue.push((await timeToRun(1, () => client.enqueue(plain, {}, { delayMs }))) - delayMs);
        }
        await eventuallyIdle(storage);
        return {
          'limited jobs/s': perSecond(limitedJobs, limitedMs),
          'late commit p50 ms': median(late),
          'late commit max ms': percentile(late, 1),
          'plain p50 ms': median(soon),
          'scheduled late by p50 ms': median(overdue),
          'scheduled late by max ms': percentile(overdue, 1),
        };
      };

      try {
        return await connected(agent.url, (pinning) =>
          connected(agent.url, async (caller) => {
            await pinning.query('begin isolation level repeatable read');
            await pinning.query('select count(*) from longshore.queue'); // takes a snapshot that holds back vacuum
            await measure(caller); // warm-up
            const rows: Row[] = [];
            for (let round = 0; round <= rounds; round++) {
              rows.push({
                name: `after ${(round * jobs).toLocaleString('en')} jobs`,
                settings: `concurrency limit ${concurrencyLimit}`,
                figures: await measure(caller),
              });
              if (round === rounds) break;
              await drainSample(bench, agent, {});
              await timeToRun(jobs, () =>
                client.enqueueMany(
                  Array.from({ length: jobs }, () => ({
                    definition: plain,
                    args: {},
                    options: { delayMs: 1 },
                  })),
                ),
              );
            }
            const [first, last] = [rows[0]?.figures ?? {}, rows.at(-1)?.figures ?? {}];
            return {
              title: `Promises while a transaction stays open: ${jobs} plain and ${jobs} scheduled jobs between the rows`,
              rows,
              ratios: [
                {
                  name: 'limited queue, last / first',
                  value: (last['limited jobs/s'] ?? NaN) / (first['limited jobs/s'] ?? NaN),
                  target: { atLeast: 0.9 },
                },
                {
                  name: 'late commit, worst of the last row, ms',
                  value: last['late commit max ms'] ?? NaN,
                  target: { atMost: 250 },
                },
              ],
            };
          }),
        );
      } finally {
        await server.stop();
        await storage.close();
      }
    }),
};

/** Waits until no job is ready or running. A job counts as running until its outcome is written. */
async function eventuallyIdle(storage: PostgresStorage): Promise<void> {
  for (;;) {
    const { enqueued, processing } = await storage.jobs.stateCounts();
    if (enqueued + processing === 0) return;
    await pause(5);
  }
}
