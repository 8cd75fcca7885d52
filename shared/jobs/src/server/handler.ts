import type { BoundClient } from '../client/bound-client.js';
import { checkDefinition, type JobDefinition } from '../job/definition.js';
import { type Check, checkOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';
import type { JobLog } from '../job/job-log.js';
import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { ContextReads } from './context-reads.js';
import type { StepContext } from './steps/step-context.js';

/** A running job, as handlers and event listeners see it. */
export interface RunningJob<Args = unknown> {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly args: Args;
  /** Number of this attempt, starting at 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** The `traceparent` (W3C Trace Context) that was passed when the job was enqueued; `null` if there was none. */
  readonly traceparent: string | null;
}

/**
 * The context that a handler receives. `enqueue`, `enqueueMany`, `enqueueBatch` and `sendSignal` use the server's `client`:
 *
 * - the jobs name the handler's job as `enqueuedBy`
 * - while the work of `transaction` runs, they join that transaction, so the jobs exist only if the job completes;
 *   otherwise, the jobs are durable when the call resolves, whatever becomes of the attempt
 * - they reject once the lease was lost or the server has given up on the handler, because another attempt may run then
 * - in a worker thread, they reject with a TypeError
 */
export interface JobContext<Args> extends BoundClient, ContextReads, StepContext {
  readonly args: Args;
  readonly job: RunningJob<Args>;
  /**
   * Aborts when the attempt should end:
   *
   * - the job was cancelled
   * - the attempt timed out
   * - the server is stopping and `stopTimeoutMs` has passed
   * - the lease was lost
   *
   * In the last two cases, the result is not stored. Pass the signal to `fetch`, timers and queries.
   */
  readonly signal: AbortSignal;
  /** Writes log lines that are shown with the job, up to the server's `maxLogLines` and `maxLogLineBytes`. */
  readonly log: JobLog;
  /**
   * Reports progress. Frequent calls are cheap: only the latest report is kept, and it is stored at most once a second.
   *
   * @param percent 0 to 100; other values are clamped
   */
  readonly progress: (percent: number, message?: string) => void;
  /**
   * Runs `work` and completes the job in one database transaction. The return value of `work` is the job's result. Call
   * `transaction` as the last step of the handler: `return transaction(async (client) => …)`.
   *
   * @throws {ClaimLostError} if the lease was lost; everything that `work` did is rolled back
   * @throws {TypeError} if the handler runs in a worker thread, or the storage has no transactions
   */
  readonly transaction: <Result>(work: (client: TransactionClient) => Promise<Result>) => Promise<Result>;
}

/**
 * A function that runs a job. The return value is stored as the result. It must be JSON; `undefined` becomes `null`. If
 * the function throws, the attempt fails. A job can run more than once, so handlers should be idempotent.
 */
export type RunJob<Args, Result = unknown> = (context: JobContext<Args>) => Result | Promise<Result>;

/** Middleware around every handler of a server. Can read the job context and change what `next` returns or throws. */
export type RunMiddleware = Middleware<JobContext<unknown>, unknown>;

/** A handler for CPU-bound work that runs in a worker thread. The module exports the handler function as `run`. */
export interface ThreadHandler {
  /** The URL of the module, for example `new URL('./resize-image.js', import.meta.url)`. */
  readonly module: URL;
  readonly thread: true;
}

/** A job definition with its handler. */
export interface JobHandler<Args = unknown, Result = unknown, Input = Args> {
  readonly definition: JobDefinition<Args, Result, Input>;
  readonly run: RunJob<unknown> | ThreadHandler;
}

const threadOptions: OptionNames<ThreadHandler> = { module: true, thread: true };

/**
 * Pairs a definition with its handler. The handler is a function or, to run in a worker thread, a module that exports
 * the function as `run`. The definition determines the types of the function's arguments and result.
 *
 * @throws {TypeError} if `definition` is not a job definition, `run` is neither a function nor a thread handler, or the
 *   module of a thread handler is not a `URL`
 */
export function handleJob<Args, Result, Input, Returned extends Result>(
  definition: JobDefinition<Args, Result, Input>,
  run: RunJob<NoInfer<Args>, Returned> | ThreadHandler,
): JobHandler<Args, Returned, Input> {
  const typed = definition as JobDefinition<Args, Returned, Input>;
  checkDefinition('handleJob', definition);
  if (typeof run === 'object' && run !== null) {
    checkOptions(`handleJob: the thread handler of the job "${definition.name}"`, run, threadOptions);
    if (run.module instanceof URL) return { definition: typed, run };
    throw new TypeError(
      `The module of the job "${definition.name}" must be given as a URL: new URL('./file.js', import.meta.url)`,
    );
  }
  if (typeof run !== 'function')
    throw new TypeError(
      `handleJob needs the function that runs the job "${definition.name}" as its second parameter, not ${shown(run)}: handleJob(definition, async ({ args }) => { … })`,
    );
  if (isClass(run))
    throw new TypeError(
      `handleJob needs the function that runs the job "${definition.name}" as its second parameter, not a class: handleJob(definition, (context) => new ${run.name || 'Handler'}().run(context))`,
    );
  // Arguments are validated against the definition's schema when an attempt starts, so this cast is safe.
  return { definition: typed, run: run as RunJob<unknown> };
}

/** Returns whether a function can only be called with `new`. */
function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

/** Returns whether a value is a result of {@link handleJob}. */
export function isHandler(value: unknown): value is JobHandler {
  if (typeof value !== 'object' || value === null) return false;
  const { definition, run } = value as Partial<JobHandler>;
  return typeof definition?.check === 'function' && (typeof run === 'function' || typeof run === 'object');
}

/** Accepts a list of results of {@link handleJob}. */
export const isHandlerList: Check = (what, value) => {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : null;
  const index = list === null ? 0 : list.findIndex((element) => !isHandler(element));
  if (index < 0) return;
  const got = list === null ? shown(value) : `${shown(list[index])} at index ${index}`;
  throw new TypeError(`${what} must be a list of handlers, such as [handleJob(definition, run)], not ${got}`);
};
