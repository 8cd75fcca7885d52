import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkOptions,
  checkStorage,
  isHandlerList,
  isInteger,
  type OptionNames,
} from '@longshore/jobs/storage';
import { type JobError, type JobHandler, JobServer, type JobStorage, silentLogger } from '@longshore/jobs';

export interface DrainOptions {
  /** Handlers of the jobs to run. Required if the target is a storage; ignored if it is a server. */
  readonly handlers?: readonly JobHandler[];
  /** How long draining may take, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
}

const drainOptions: OptionNames<DrainOptions> = {
  handlers: isHandlerList,
  timeoutMs: isInteger(),
};

/** The outcomes of the attempts that ended during a call of {@link drain}. */
export interface DrainReport {
  readonly done: number;
  readonly failed: number;
  /** Number of attempts that failed and will be retried. */
  readonly retrying: number;
  readonly cancelled: number;
  readonly snoozed: number;
  /** Errors of the attempts, in the order in which the attempts ended. */
  readonly errors: readonly JobError[];
}

const unfinished = ['enqueued', 'processing'] as const;

/** Interval between checks for remaining jobs, in milliseconds. */
const checkMs = 2;

/**
 * Runs jobs until no job is ready, including jobs that other jobs enqueue or make ready. Scheduled jobs run if they are
 * due by the storage's clock. A failed job is therefore retried only after the clock has passed the retry delay.
 *
 * @param target a storage or a running server. For a storage, a temporary server runs the jobs of the given handlers
 * @throws {TypeError} if `target` is neither, or a storage and no handlers are given, or an option is unknown
 * @throws {Error} if jobs are left after `timeoutMs`, for example because their queue is paused
 */
export async function drain(
  target: JobStorage | JobServer,
  options: DrainOptions = {},
): Promise<DrainReport> {
  checkOptions('drain', options, drainOptions);
  const { handlers = [], timeoutMs = 10_000 } = options;
  if (isServer(target)) return observed(target, () => drained(target.storage, {}, timeoutMs));
  checkStorage('drain', target, ['jobs', 'queues', 'claims', 'maintenance']);
  const storage = target;
  const name = handlers.map(({ definition }) => definition.name);
  if (name.length === 0)
    throw new TypeError(
      'drain needs the handlers of the jobs to run: drain(storage, { handlers: [sendReceipt] })',
    );
  const queues = new Set(handlers.map(({ definition }) => definition.queue));
  for (const queue of await storage.queues.list()) queues.add(queue.name);
  const server = new JobServer({
    storage,
    handlers,
    queues: [...queues],
    stopTimeoutMs: 0,
    logger: silentLogger,
  });
  await server.start();
  try {
    return await observed(server, () => drained(storage, { name }, timeoutMs));
  } finally {
    await server.stop();
  }
}

function isServer(target: JobStorage | JobServer): target is JobServer {
  return typeof target === 'object' && target !== null && 'storage' in target;
}

/** Counts the outcomes of a server's attempts while `work` runs. */
async function observed(server: JobServer, work: () => Promise<void>): Promise<DrainReport> {
  const counts = { done: 0, failed: 0, retrying: 0, cancelled: 0, snoozed: 0 };
  const errors: JobError[] = [];
  const stops = (['done', 'failed', 'retrying', 'cancelled', 'snoozed'] as const).map((end) =>
    server.on(end, (event) => {
      counts[end]++;
      if ('error' in event) errors.push(event.error);
    }),
  );
  try {
    await work();
  } finally {
    for (const stop of stops) stop();
  }
  return { ...counts, errors };
}

/**
 * Resolves when no matching job is ready or running, and none can become ready until the clock moves.
 *
 * @throws {Error} if jobs are left after `timeoutMs`
 */
async function drained(storage: JobStorage, filter: { name?: string[] }, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  const left = async (): Promise<number> =>
    (await storage.jobs.count({ ...filter, state: unfinished })).count;
  for (;;) {
    const { promoted } = await storage.maintenance.promoteDue(1_000);
    const resolved = await storage.maintenance.resolveDependencies(500);
    const count = await left();
    if (count === 0 && promoted === 0 && resolved === 0) return;
    if (performance.now() > until) throw new Error(await describe(storage, filter, count, timeoutMs));
    await sleep(checkMs);
  }
}

async function describe(
  storage: JobStorage,
  filter: { name?: string[] },
  count: number,
  timeoutMs: number,
): Promise<string> {
  const jobs = await storage.jobs.list({
    filter: { ...filter, state: unfinished },
    order: 'oldest',
    limit: 10,
  });
  const list = jobs.map(({ name, queue, state }) => `${name} in ${queue} (${state})`);
  return `After ${timeoutMs} ms, ${count} jobs were still left: ${list.join(', ')}`;
}
