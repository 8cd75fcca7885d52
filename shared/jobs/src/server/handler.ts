import type { JobDefinition } from '../job/definition.js';
import type { JobLog } from '../job/job-log.js';
import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';

/** A running job, as its handler sees it. */
export interface RunningJob<Args = unknown> {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly args: Args;
  /** Number of this attempt, starting at 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** The `traceparent` passed when the job was enqueued (W3C Trace Context); `null` if there was none. */
  readonly traceparent: string | null;
}

/**
 * The context that a handler receives: the running job, an abort signal, and functions for logging, progress reports
 * and transactions.
 */
export interface JobContext<Args> {
  readonly args: Args;
  readonly job: RunningJob<Args>;
  /**
   * Aborts when this attempt should end, because the job was cancelled, the attempt timed out, `stopTimeoutMs` has
   * passed since the server began to stop, or the lease was lost. In the last two cases, the result will not be stored.
   * Pass the signal to `fetch`, timers and queries.
   */
  readonly signal: AbortSignal;
  /** Writes log lines that are shown with the job, up to the server's `maxLogLines` and `maxLogLineBytes`. */
  readonly log: JobLog;
  /**
   * Reports progress. Only the latest report is kept and, at most once a second, stored; frequent calls are therefore
   * cheap.
   *
   * @param percent 0 to 100; other values are clamped
   */
  readonly progress: (percent: number, message?: string) => void;
  /**
   * Runs `work` and completes the job in one database transaction, so that both take effect exactly once. The return
   * value of `work` is the job's result. Calling `transaction` must be the last thing that the handler does: `return
   * transaction(async (client) => …)`.
   *
   * @throws {ClaimLostError} if the lease was lost; everything that `work` did is rolled back
   * @throws {TypeError} if the handler runs in a worker thread, or the storage has no transactions
   */
  readonly transaction: <Result>(work: (client: TransactionClient) => Promise<Result>) => Promise<Result>;
}

/**
 * A function that runs a job. Its return value is stored as the result; it must be JSON, and `undefined` becomes
 * `null`. Throwing an error fails the attempt. A job may run more than once, so handlers should be idempotent.
 */
export type RunJob<Args, Result = unknown> = (context: JobContext<Args>) => Result | Promise<Result>;

/**
 * Middleware around every handler of a server. It can read the job context, and can change what `next` returns or
 * throws.
 */
export type RunMiddleware = Middleware<JobContext<unknown>, unknown>;

/**
 * A handler for CPU-bound work: a module that exports the handler function as `run`. The function is called in a worker
 * thread.
 */
export interface ThreadHandler {
  /** The URL of the module, for example `new URL('./resize-image.js', import.meta.url)`. */
  readonly module: URL;
  readonly thread: true;
}

/** A job definition with its handler. The type parameters are those of the definition. */
export interface JobHandler<Args = unknown, Result = unknown, Input = Args> {
  readonly definition: JobDefinition<Args, Result, Input>;
  readonly run: RunJob<unknown> | ThreadHandler;
}

/**
 * Pairs a definition with its handler: either a function or, to run the function in a worker thread, a module that
 * exports it as `run`. The definition determines the types of the function's arguments and result.
 *
 * @throws {TypeError} if the module of a thread handler is not a `URL`
 */
export function handleJob<Args, Result, Input, Returned extends Result>(
  definition: JobDefinition<Args, Result, Input>,
  run: RunJob<NoInfer<Args>, Returned> | ThreadHandler,
): JobHandler<Args, Returned, Input> {
  const typed = definition as JobDefinition<Args, Returned, Input>;
  if (typeof run === 'object') {
    if (run.module instanceof URL) return { definition: typed, run };
    throw new TypeError(
      `The module of the job "${definition.name}" must be given as a URL: new URL('./file.js', import.meta.url)`,
    );
  }
  // Arguments are validated against the definition's schema when the job is enqueued, so this cast is safe.
  return { definition: typed, run: run as RunJob<unknown> };
}
