import pg from 'pg';
import type { Contender, Payload, ServerSettings } from './contender.js';
import { importPeer } from './peer-module.js';

/** The part of graphile-worker's API that the benchmark uses. */
interface GraphileWorker {
  Logger: new (factory: () => () => void) => unknown;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: Payload): Promise<unknown>;
    addJobs(jobs: readonly { identifier: string; payload: Payload }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
}

const task = 'bench';
/** Error listener of the pool. graphile-worker handles errors itself, but warns about a pool without a listener. */
const ignoreErrors = (): void => undefined;

/** Number of jobs per call of `addJobs`. A call is one statement with the jobs as JSON. Larger calls were slower. */
const chunk = 5_000;

export async function graphileWorker(url: string): Promise<Contender> {
  const worker = await importPeer<GraphileWorker>('graphile-worker');
  const logger = new worker.Logger(() => () => undefined);
  const pgPool = new pg.Pool({ connectionString: url, max: 10 });
  pgPool.on('error', ignoreErrors);
  pgPool.on('connect', (client) => client.on('error', ignoreErrors));
  const utils = await worker.makeWorkerUtils({ pgPool, logger });
  let runner: { stop(): Promise<void> } | undefined;

  return {
    prepare: () => utils.migrate(),
    enqueueMany: async (payloads) => {
      for (let start = 0; start < payloads.length; start += chunk) {
        const jobs = payloads.slice(start, start + chunk).map((payload) => ({ identifier: task, payload }));
        await utils.addJobs(jobs);
      }
    },
    enqueueOne: async (payload) => {
      await utils.addJob(task, payload);
    },
    startServer: async (onJob, settings) => {
      runner = await worker.run({
        preset: { worker: workerOptions(url, settings) },
        logger,
        noHandleSignals: true,
        parsedCronItems: [],
        taskList: { [task]: (payload: Payload) => onJob(payload) },
      });
    },
    stopServer: async () => {
      await runner?.stop();
    },
    unfinished: async () => {
      const { rows } = await pgPool.query<{ jobs: number }>(
        'select count(*)::integer as jobs from graphile_worker._private_jobs',
      );
      return rows[0]?.jobs ?? 0;
    },
    close: async () => {
      await utils.release();
      await pgPool.end();
    },
  };
}

/**
 * @param settings `localQueue`: size of the local queue, or 0 to use no local queue; `refetchMs`: delay before the
 *   local queue is refilled, or 0 for no delay; `batchMs`: how long outcomes are collected before they are written
 */
function workerOptions(url: string, settings: ServerSettings): object {
  const { concurrency = 24, localQueue = 0, refetchMs = 0, batchMs = 0 } = settings;
  const refetchDelay = { durationMs: refetchMs, threshold: Math.floor(localQueue / 2) };
  return {
    connectionString: url,
    maxPoolSize: 10,
    concurrentJobs: concurrency,
    preparedStatements: true,
    completeJobBatchDelay: batchMs,
    failJobBatchDelay: batchMs,
    ...(localQueue > 0 && { localQueue: { size: localQueue, ...(refetchMs > 0 && { refetchDelay }) } }),
  };
}
