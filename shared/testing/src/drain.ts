import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkOptions,
  checkStorage,
  isHandlerList,
  isInteger,
  namesOf,
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
  /** Number of attempts whose handler began to sleep or to wait. */
  readonly suspended: number;
  /** Errors of the attempts, in the order in which the attempts ended. */
  readonly errors: readonly JobError[];
}

const unfinished = ['enqueued', 'processing'] as const;

/**
 * Runs jobs until no job is ready, including jobs that other jobs enqueue or make ready. Scheduled jobs run if they are
 * due by the storage's clock. A failed job is therefore retried only after the clock has passed the retry delay.
 *
 * @param target a storage or a running server. For a storage, a temporary server runs the jobs of the given handlers
 * @throws {TypeError} if `target` is neither, or a storage and no handlers are given, or an option is unknown
 * @throws {Error} if jobs are left: after `timeoutMs`, or because they cannot run, for example in a paused queue
 */
export async function drain(
  target: JobStorage | JobServer,
  options: DrainOptions = {},
): Promise<DrainReport> {
  checkOptions('drain', options, drainOptions);
  const { handlers = [], timeoutMs = 10_000 } = options;
  if (isServer(target)) return observed(target, () => drained(target, {}, timeoutMs));
  checkStorage('drain', target, ['jobs', 'queues', 'claims', 'maintenance']);
  const storage = target;
  const name = handlers.flatMap(({ definition }) => namesOf(definition));
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
    return await observed(server, () => drained(server, { name }, timeoutMs));
  } finally {
    await server.stop();
  }
}

function isServer(target: JobStorage | JobServer): target is JobServer {
  return typeof target === 'object' && target !== null && 'storage' in target;
}

/** Counts the outcomes of a server's attempts while `work` runs. */
async function observed(server: JobServer, work: () => Promise<void>): Promise<DrainReport> {
  const counts = { done: 0, failed: 0, retrying: 0, cancelled: 0, snoozed: 0, suspended: 0 };
  const errors: JobError[] = [];
  const stops = (['done', 'failed', 'retrying', 'cancelled', 'snoozed', 'suspended'] as const).map((end) =>
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
 * Resolves when the server has drained.
 *
 * @throws {Error} if matching jobs are left: they could not run, or not within `timeoutMs`
 */
async function drained(server: JobServer, filter: { name?: string[] }, timeoutMs: number): Promise<void> {
  const waiting = new AbortController();
  const late = sleep(timeoutMs, false, { signal: waiting.signal }).catch(() => false);
  const isDrained = await Promise.race([server.drained(), late]);
  waiting.abort();
  const { jobs } = server.storage;
  const left = { ...filter, state: unfinished };
  const { count } = await jobs.count(left);
  if (count === 0) return;
  const oldest = await jobs.list({ filter: left, order: 'oldest', limit: 10 });
  const list = oldest.map(({ name, queue, state }) => `${name} in ${queue} (${state})`).join(', ');
  throw new Error(
    isDrained
      ? `${count} jobs are left that cannot run, because their queue is paused, limited or not consumed: ${list}`
      : `After ${timeoutMs} ms, ${count} jobs were still left: ${list}`,
  );
}
