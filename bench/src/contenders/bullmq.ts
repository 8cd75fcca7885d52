import type { Contender, Payload, ServerSettings } from './contender.js';
import { importPeer } from './peer-module.js';

/** The part of BullMQ's API that the benchmark uses. */
interface BullMq {
  Queue: new (name: string, options: object, backend?: unknown) => Queue;
  Worker: new (
    name: string,
    processor: (job: { data: Payload }) => Promise<void>,
    options: object,
    backend?: unknown,
  ) => Worker;
  createPostgresBackend: unknown;
}

interface Queue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: Payload): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: Payload }[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  on(event: 'error', listener: (error: unknown) => void): void;
  close(): Promise<void>;
}

interface Worker {
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): void;
  close(): Promise<void>;
}

const name = 'bench';
const ignoreErrors = (): void => undefined;

/** Number of jobs per call of `addBulk`. Each call is one transaction. */
const chunk = 5_000;

/** Creates a contender that runs BullMQ on Redis. `url` names the server and one of its databases. */
export function bullMqOnRedis(url: string): Promise<Contender> {
  const { hostname, port, pathname } = new URL(url);
  // Retries commands without limit, as BullMQ requires.
  const connection = {
    host: hostname,
    port: Number(port),
    db: Number(pathname.slice(1)),
    maxRetriesPerRequest: null,
  };
  return bullMq(connection, false);
}

export function bullMqOnPostgres(url: string): Promise<Contender> {
  return bullMq({ connectionString: url, max: 10, migrate: true }, true);
}

async function bullMq(connection: object, onPostgres: boolean): Promise<Contender> {
  const bull = await importPeer<BullMq>('bullmq');
  const backend = onPostgres ? [bull.createPostgresBackend] : [];
  const queue = new bull.Queue(name, { connection }, ...backend);
  queue.on('error', ignoreErrors);
  let worker: Worker | undefined;

  return {
    prepare: async () => void (await queue.waitUntilReady()),
    enqueueMany: async (payloads) => {
      for (let start = 0; start < payloads.length; start += chunk)
        await queue.addBulk(payloads.slice(start, start + chunk).map((data) => ({ name, data })));
    },
    enqueueOne: async (payload) => void (await queue.add(name, payload)),
    startServer: async (onJob, { concurrency = 24 }: ServerSettings) => {
      const run = async ({ data }: { data: Payload }): Promise<void> => onJob(data);
      worker = new bull.Worker(name, run, { connection, concurrency }, ...backend);
      worker.on('error', ignoreErrors);
      await worker.waitUntilReady();
    },
    stopServer: async () => {
      await worker?.close();
    },
    unfinished: async () => {
      const counts = await queue.getJobCounts('waiting', 'active');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    close: () => queue.close(),
  };
}
