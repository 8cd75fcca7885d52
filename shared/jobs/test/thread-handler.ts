import { isMainThread } from 'node:worker_threads';
import type { JobContext } from '../src/index.js';
import { defineJob } from '../src/job/definition.js';
import { CancelJob, SnoozeJob } from '../src/job/errors.js';

/**
 * An error that the tests' job definition does not retry. Each thread loads its own copy of this class, so `instanceof`
 * does not recognize errors from other threads.
 */
export class HopelessError extends Error {
  readonly reasonCode = 7;
}

type Context = JobContext<{ what: string }>;

/** Whether this thread has run `snooze` before. */
let snoozed = false;

const behaviours: Record<string, (context: Context) => unknown> = {
  tell: ({ job }) => ({ isMainThread, attempt: job.attempt, createdAt: job.createdAt.toISOString() }),
  count: ({ log, progress }) => {
    for (let step = 0; step < 10_000; step++) progress(step / 100, `step ${step}`);
    log.info('counted', { steps: 10_000, err: new RangeError('none left') });
    progress(100);
  },
  flood: ({ log }) => {
    for (let line = 1; line <= 100_000; line++) log.info(`line ${line}`);
  },
  fail: () => {
    throw new RangeError('no', { cause: new Error('the root of it') });
  },
  hopeless: () => {
    throw new HopelessError('hopeless');
  },
  snooze: ({ job }) => {
    if (snoozed) return job.attempt;
    snoozed = true;
    throw new SnoozeJob(1);
  },
  cancel: () => {
    throw new CancelJob('moot');
  },
  date: () => ({ when: new Date() }),
  transaction: ({ transaction }) => transaction(async () => null),
  enqueue: ({ enqueue }) => enqueue(defineJob({ name: 'other' })),
  enqueueMany: ({ enqueueMany }) => enqueueMany([]),
  enqueueBatch: ({ enqueueBatch }) => enqueueBatch({ jobs: [] }),
  reads: async ({ parents, batch, earlierErrors }) => {
    const [first] = await parents();
    const found = await batch();
    const results: unknown[] = [];
    for await (const result of found?.results() ?? []) results.push(result);
    return { parent: first?.kind, name: found?.name, results, errors: await earlierErrors() };
  },
  exit: () => {
    process.exitCode = 3;
    process.exit();
  },
  leave: () => {
    const fail = (): never => {
      throw new Error('Nobody listens any more');
    };
    new BroadcastChannel('left behind').addEventListener('message', () => setImmediate(fail));
  },
  wait: async ({ log, signal }) => {
    log.info('waiting');
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  },
  // Blocks the thread's event loop, but checks the signal.
  compute: ({ log, signal }) => {
    log.info('computing');
    while (!signal.aborted);
    signal.throwIfAborted();
  },
  // Blocks the thread's event loop and never checks the signal.
  burn: ({ log }) => {
    log.info('burning');
    for (;;);
  },
};

export function run(context: Context): unknown {
  return behaviours[context.args.what]?.(context);
}
