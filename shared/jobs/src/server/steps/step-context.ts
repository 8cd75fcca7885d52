import type { RequestedOptions } from '../../client/enqueue-options.js';
import type { BoundClient } from '../../client/bound-client.js';
import type { JobDefinition } from '../../job/definition.js';
import type { JsonValue } from '../../job/job.js';
import type { RetryDelay } from '../../job/retry.js';
import type { TransactionClient } from '../../storage/transaction.js';

/**
 * What a handler calls to be resumed where it stopped. Results are stored with the job, by name: when the handler runs
 * again, whether after a failure, a crash or a wait, what has a result already answers with it at once.
 *
 * - Names are 1 to 200 characters and unique in the job, across all of these functions; a loop adds its key:
 *   `label:${parcel.id}`. The same name twice in one run throws a TypeError
 * - While the handler only waits, the attempt ends without being counted: the job holds no slot, no lease and no
 *   concurrency key, and its handler runs again once one of the waits is over. The promises of the attempt never settle
 *   then, so no `catch` or `finally` runs. Steps that run beside a wait finish first; work outside of steps does not
 * - What runs outside of steps may run again
 * - In a worker thread, all of them reject with a TypeError
 */
export interface StepContext {
  readonly step: RunStep;
  /**
   * Waits, for up to ten years. The time counts from the first call, whatever happens in between.
   *
   * @throws {RangeError} if the time is out of bounds
   */
  readonly sleep: (name: string, time: SleepTime) => Promise<void>;
  readonly waitFor: WaitForSignal;
  readonly enqueueAndWait: EnqueueAndWait;
}

export type SleepTime =
  /** A number of milliseconds from the first call, up to ten years. */
  | { readonly ms: number; readonly until?: never }
  /** A time from 1970 to 9999. */
  | { readonly until: Date; readonly ms?: never };

export interface RunStep {
  /**
   * Runs `work` and stores what it returns: JSON within the server's `maxResultBytes`; `undefined` becomes `null`. It is
   * run at least once, and never again once its result is stored. With `transaction: true`, what it writes with its `client`
   * and its result are committed together, so it takes effect exactly once.
   *
   * If `work` throws, the promise rejects with that error. If the handler goes on, by starting another step or ending well,
   * the error is final: later attempts get an error with the same `name` and `message`. If the error ends the attempt, the
   * next attempt runs the step again.
   *
   * @throws {ClaimLostError} if the lease was lost; nothing is stored
   * @throws {InvalidArgumentsError} if the result is not JSON
   * @throws {ResultTooLargeError} if the result is too large
   */
  <Result>(
    name: string,
    work: (context: TransactionalStep) => Promise<Result>,
    options: StepOptions & { readonly transaction: true },
  ): Promise<Result>;
  <Result>(
    name: string,
    work: (context: RunningStep) => Result | Promise<Result>,
    options?: StepOptions & { readonly transaction?: false },
  ): Promise<Result>;
  /**
   * Pins the version of the code with which a job passed here: returns `current` the first time, and the same number in
   * every later attempt, also by newer code. A job whose stored steps show that it passed here before this call existed
   * gets 1.
   *
   * @param current 1 to 1,000,000
   */
  readonly version: (name: string, current: number) => Promise<number>;
}

export interface StepOptions {
  /**
   * How often the step is tried before its error is thrown, 1 to 1,000; 1 by default. Between two attempts the job waits as
   * in `sleep`, and uses up none of its own attempts. The definition's `retryOn` and `giveUpOn` apply.
   */
  readonly maxAttempts?: number;
  /** The delays between these attempts, as in a job definition; the same default. */
  readonly retryDelay?: RetryDelay | readonly number[];
  /** Aborts the `signal` of each attempt and rejects with a {@link StepTimeoutError}, 1 to 86,400,000 ms; none by default. */
  readonly timeoutMs?: number;
  /** Whether to run the work in a database transaction that also stores its result; `false` by default. */
  readonly transaction?: boolean;
  /**
   * What the step depends on, as JSON. Logs a warning if a later attempt gives another value, whose result might differ
   * from the stored one. None by default.
   */
  readonly input?: JsonValue;
}

/** What the work of a step receives. */
export interface RunningStep {
  /** Number of this attempt of the step, from 1. */
  readonly attempt: number;
  /** Aborts when the attempt of the job should end, or the time of the step is up. */
  readonly signal: AbortSignal;
}

/** What the work of a transactional step receives: the methods that enqueue do so in its transaction. */
export interface TransactionalStep extends RunningStep, BoundClient {
  readonly client: TransactionClient;
}

export interface WaitOptions {
  /** How long to wait at most, from the first call: up to ten years, which is the default. */
  readonly timeoutMs?: number;
}

export interface WaitForSignal {
  /**
   * Waits for a signal with this name. Returns the data of the first one, also if it arrived before the call; `null` if
   * none has come in time. A signal that comes later does not change that.
   */
  <Data = JsonValue>(name: string, options?: WaitOptions): Promise<Data | null>;
  /** Waits for several signals with this name, up to 1,000. Returns the data of those that came in time, in order. */
  <Data = JsonValue>(name: string, options: WaitOptions & { readonly all: number }): Promise<Data[]>;
}

/** The options of the job and of the wait. Keys are left out, because an existing job would not report its end. */
export interface WaitForJobOptions
  extends WaitOptions, Omit<RequestedOptions, 'unique' | 'idempotencyKey' | 'includeHolder' | 'timeoutMs'> {
  /** The name of the step; by default, the name of the definition. */
  readonly step?: string;
  /** Whether to cancel the job if this one is cancelled while it waits; `false` by default: it goes on. */
  readonly cancelWithJob?: boolean;
}

/**
 * Enqueues a job, waits for its end and returns its result.
 *
 * @throws {StepFailedError} if the job failed, was cancelled, or has not ended in time; `jobId` says which, and `name` and
 *   `message` why
 */
export type EnqueueAndWait = <Args, Result, Input>(
  definition: JobDefinition<Args, Result, Input>,
  ...rest: {} extends Input
    ? [args?: NoInfer<Input>, options?: WaitForJobOptions]
    : [args: NoInfer<Input>, options?: WaitForJobOptions]
) => Promise<Result>;
