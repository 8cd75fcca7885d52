import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Bench, Scenario } from '../bench.js';
import { type Row, ratioOf } from '../result.js';
import { median, percentile, perSecond } from '../statistics.js';

const job = defineJob({ name: 'bench' });
const allQueues = 1_000;
const busyQueues = 100;
const concurrency = 24;

/** Compares a server with a thousand queues, nine hundred of them idle, to a server with one queue. */
export const manyQueues: Scenario = {
  name: 'many-queues',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const one = await measure(bench, 1, 1);
    const many = await measure(bench, allQueues, busyQueues);
    return {
      title: `A server with ${allQueues} queues, ${allQueues - busyQueues} of them idle: ${bench.sizes.jobs} jobs a round`,
      rows: [many, one],
      ratios: [ratioOf(many, one, { atLeast: 0.5 })],
    };
  },
};

async function measure(bench: Bench, all: number, busy: number): Promise<Row> {
  const { jobs, rounds, latencyJobs } = bench.sizes;
  const url = await bench.database.create();
  const storage = new PostgresStorage({ url });
  await storage.open();
  const client = new JobClient(storage);
  const queues = Array.from({ length: all }, (_, index) => `queue-${index}`);
  let onJob: () => void = () => undefined;
  /** Resolves when `count` jobs have run since the call. */
  const jobsRun = (count: number): Promise<void> => {
    let ran = 0;
    return new Promise((resolve) => {
      onJob = () => void (++ran === count && resolve());
    });
  };
  const serve = async (): Promise<JobServer> => {
    const handlers = [handleJob(job, () => onJob())];
    const server = new JobServer({ storage, handlers, queues, concurrency });
    await server.start();
    return server;
  };
  try {
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await client.enqueueMany(
        Array.from({ length: jobs }, (_, index) => ({
          definition: job,
          args: { n: index },
          options: { queue: `queue-${index % busy}` },
        })),
      );
      await bench.database.settle();
      const finished = jobsRun(jobs);
      const startedMs = performance.now();
      const server = await serve();
      await finished;
      rates.push(perSecond(jobs, performance.now() - startedMs));
      await server.stop();
    }
    const server = await serve();
    const waits: number[] = [];
    for (let sample = 0; sample < Math.ceil(latencyJobs / 3); sample++) {
      const heard = jobsRun(1);
      const startedMs = performance.now();
      await client.enqueue(job, {}, { queue: `queue-${sample % all}` });
      await heard;
      waits.push(performance.now() - startedMs);
    }
    await server.stop();
    const figures = {
      'jobs/s': median(rates),
      'latency p50 ms': median(waits),
      'latency p99 ms': percentile(waits, 0.99),
    };
    return {
      name: `${all} queues, jobs in ${busy}`,
      settings: `concurrency ${concurrency}`,
      figures,
      rounds: rates,
    };
  } finally {
    await storage.close();
    await bench.database.drop(url);
  }
}
