import type { JobDefinition } from '../job/definition.js';
import type { JobLog } from '../job/job-log.js';
import type { Middleware } from '../job/middleware.js';
import type { TransactionClient } from '../storage/transaction.js';

/** What a handler sees of the job that it runs. */
export interface RunningJob {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** The trace that its enqueuer gave it (W3C Trace Context), `null` if none. */
  readonly traceparent: string | null;
}

export interface JobContext<Args> {
  readonly args: Args;
  readonly job: RunningJob;
  /**
   * Aborts when this attempt should end: the job was cancelled, the server is stopping and its time is up, or the claim
   * is lost and whatever the handler returns will change nothing. Pass it on to `fetch`, timers and queries.
   */
  readonly signal: AbortSignal;
  /** Keeps lines with the attempt, for people who look at the job; bounded by the server's `maxLogLines` and `maxLogLineBytes`. */
  readonly log: JobLog;
  /**
   * Says how far the attempt is. The job shows the last one; as often as once a second it is written. Costs nothing to call.
   *
   * @param percent 0 to 100; what lies outside counts as the nearest
   */
  readonly progress: (percent: number, message?: string) => void;
  /**
   * Does database work and completes the job in one transaction, exactly once: `return transaction(async (client) => …)`.
   * What `work` returns is the job's result. Nothing may follow it in the handler.
   *
   * @throws {ClaimLostError} if the job runs elsewhere by now; what `work` did is rolled back
   */
  readonly transaction: <Result>(work: (client: TransactionClient) => Promise<Result>) => Promise<Result>;
}

/**
 * Runs a job. What it returns is stored as the result (JSON only; `undefined` is kept as `null`); what it throws
 * fails the attempt. It may run more than once for one job, so it should do its work idempotently.
 */
export type RunJob<Args> = (context: JobContext<Args>) => unknown;

/** Stands around every handler of a server: sees args, job and signal, and what `next` returns or throws. */
export type RunMiddleware = Middleware<JobContext<unknown>, unknown>;

/** A handler that computes rather than waits: a module that exports it as `run`, called in a thread of its own. */
export interface ThreadHandler {
  /** `new URL('./resize-image.js', import.meta.url)` */
  readonly module: URL;
  readonly thread: true;
}

/** A job definition and what runs its jobs. */
export interface JobHandler {
  readonly definition: JobDefinition;
  readonly run: RunJob<unknown> | ThreadHandler;
}

/**
 * Pairs a definition with what runs its jobs: a function, whose arguments have the type that the definition gives, or a module
 * that exports such a function as `run`, for a thread.
 *
 * @throws {TypeError} if a thread's module is not given as a URL
 */
export function handleJob<Args>(
  definition: JobDefinition<Args>,
  run: RunJob<Args> | ThreadHandler,
): JobHandler {
  if (typeof run === 'object') {
    if (run.module instanceof URL) return { definition, run };
    throw new TypeError(
      `The module of the job "${definition.name}" is a URL: new URL('./file.js', import.meta.url)`,
    );
  }
  // Arguments are checked against the definition's schema at enqueue, which is what makes this narrowing true.
  return { definition, run: run as RunJob<unknown> };
}
