import { bounds } from '../job/bounds.js';
import { JobCancelledError, JobTimeoutError } from '../job/errors.js';
import { toJobError } from '../job/failure.js';
import type { Claim, ClaimedJob, Outcome } from '../job/job.js';
import type { JobStorage } from '../storage/storage.js';
import { type Wait, waitOf } from '../storage/timings.js';
import { namesOf } from '../job/definition.js';
import { definitionVersion } from '../job/meta.js';
import { compose } from '../job/middleware.js';
import type { JobHandler, RunJob } from './handler.js';
import type { Holdings } from './holdings.js';
import { NewerVersions } from './newer-versions.js';
import { failure, toResult, withReadArgs } from './outcome.js';
import { Reporter } from './reporter.js';
import { type AttemptOptions, RunningAttempt } from './running-attempt.js';
import type { ResolvedServerOptions } from './server-options.js';
import { ThreadPool } from './threads/thread-pool.js';

type RunningOption =
  'client' | 'handlers' | 'concurrency' | 'logger' | 'middleware' | 'threads' | 'timeoutGraceMs';
type BoundOption = 'maxResultBytes' | 'maxLogLines' | 'maxLogLineBytes' | 'logHandlerLines';

export interface RunnerOptions extends Pick<ResolvedServerOptions, RunningOption | BoundOption> {
  readonly storage: Pick<
    JobStorage,
    'batches' | 'clock' | 'completions' | 'jobs' | 'reports' | 'steps' | 'timings'
  >;
  readonly holdings: Holdings;
  readonly onStart: (job: ClaimedJob, wait: Wait) => void;
  /**
   * Called when an attempt ends, but not for dropped attempts. `outcome` is `null` if it is already stored, and `ranMs`
   * for how long the attempt ran, in milliseconds.
   */
  readonly onOutcome: (job: ClaimedJob, outcome: Outcome | null, ranMs: number) => void;
  /** Called with the number of running jobs when it may have changed. */
  readonly onRunning: (jobs: number) => void;
}

interface RunnableHandler extends JobHandler {
  readonly run: RunJob<unknown>;
  readonly options: AttemptOptions;
}

/** Queues claimed jobs and runs their handlers, up to `concurrency` at a time. */
export class Runner {
  readonly #handlers = new Map<string, RunnableHandler>();
  readonly #threads: ThreadPool;
  readonly #newerVersions: NewerVersions;
  readonly #options: RunnerOptions;
  /** The options for jobs without a handler. */
  readonly #attemptOptions: AttemptOptions;
  readonly #holdings: Holdings;
  #isRefusing = false;
  #started = 0;
  #idle: (() => void)[] = [];
  /** Transactions of abandoned attempts that are still open. */
  readonly #abandoned = new Set<Promise<void>>();

  /** @throws {RangeError} if two handlers are for jobs of the same name */
  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#holdings = options.holdings;
    const { storage: store, client, maxResultBytes, maxLogLines, maxLogLineBytes } = options;
    const { threads, timeoutGraceMs: graceMs, logger } = options;
    this.#newerVersions = new NewerVersions(logger, store.clock);
    this.#threads = new ThreadPool({ threads, graceMs, maxLogLines, logger });
    const logBounds = { maxLines: maxLogLines, maxLineBytes: maxLogLineBytes };
    const reporter = new Reporter(store, logBounds, options.logger);
    const attemptOptions = (handler?: JobHandler): AttemptOptions => ({
      store,
      reporter,
      client,
      toResult: (value) => toResult(value, maxResultBytes, handler?.definition),
      toStepResult: (value, root) => toResult(value, maxResultBytes, undefined, root),
      retryRules: handler?.definition.retryRules ?? {},
      logger,
      logHandlerLines: options.logHandlerLines,
    });
    this.#attemptOptions = attemptOptions();
    for (const handler of options.handlers) {
      const names = namesOf(handler.definition);
      const taken = names.find((name) => this.#handlers.has(name));
      if (taken !== undefined)
        throw new RangeError(`There are two handlers for the job "${taken}", counting aliases`);
      const run = this.#runOf(handler);
      const wrappedRun = compose(options.middleware, async (context) => run(context));
      const runnable = {
        ...handler,
        run: options.middleware.length === 0 ? run : wrappedRun,
        options: attemptOptions(handler),
      };
      for (const name of names) this.#handlers.set(name, runnable);
    }
  }

  /** Number of attempts that this runner has started. */
  get started(): number {
    return this.#started;
  }

  /** Returns whether there is a handler for jobs of this name. */
  handles(name: string): boolean {
    return this.#handlers.has(name);
  }

  /** How long other servers may claim first when jobs of this queue become ready, in milliseconds. */
  yieldsMs(queue: string): number {
    return this.#newerVersions.yieldsMs(queue);
  }

  /**
   * Runs jobs as soon as slots are free. Drops any earlier attempt of these jobs on this server, because that attempt
   * has lost its lease. Finds earlier attempts by job id only, because attempt numbers can repeat after a database
   * crash.
   */
  take(jobs: readonly ClaimedJob[]): void {
    if (this.#isRefusing) return void this.#holdings.release(jobs.map(({ claim }) => claim));
    this.#dropEarlierAttempts(jobs);
    const takenAt = performance.now();
    for (const job of jobs) this.#holdings.waiting.push({ job, takenAt });
    this.#startNext();
  }

  /** Releases all further jobs instead of running them. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /**
   * Removes and returns the jobs that have waited at least `minWaitMs` for a free slot. By default, takes all waiting
   * jobs.
   */
  takeWaiting(minWaitMs = 0): ClaimedJob[] {
    const before = performance.now() - minWaitMs;
    const next = this.#holdings.waiting.findIndex(({ takenAt }) => takenAt > before);
    return this.#holdings.waiting.splice(0, next === -1 ? Infinity : next).map(({ job }) => job);
  }

  /**
   * Drops these claims: removes waiting jobs and aborts the handlers of running jobs. Later results of these handlers
   * are not stored.
   */
  drop(claims: Iterable<Claim>, reason: Error): void {
    const lost = new Map<string, Claim>();
    for (const claim of claims) {
      lost.set(claim.jobId, claim);
      const attempt = this.#holdings.running.get(claim.jobId);
      // The running attempt may be a different attempt of the same job.
      if (attempt === undefined || !isSame(attempt.claim, claim)) continue;
      this.#abandon(attempt.drop(reason));
      this.#holdings.running.delete(claim.jobId);
    }
    this.#holdings.waiting = this.#holdings.waiting.filter(
      ({ job }) => !isSame(job.claim, lost.get(job.claim.jobId)),
    );
    this.#startNext();
  }

  #dropEarlierAttempts(jobs: readonly ClaimedJob[]): void {
    if (this.#holdings.claimed === 0) return;
    const ids = new Set(jobs.map(({ claim }) => claim.jobId));
    if (this.#holdings.waiting.some(({ job }) => ids.has(job.claim.jobId)))
      this.#holdings.waiting = this.#holdings.waiting.filter(({ job }) => !ids.has(job.claim.jobId));
    for (const id of ids) {
      const attempt = this.#holdings.running.get(id);
      if (attempt === undefined) continue;
      this.#abandon(attempt.drop(new Error('The lease on this job was lost')));
      this.#holdings.running.delete(id);
    }
  }

  /**
   * Aborts the signals of the running ones among these jobs. Each of them runs until its handler returns or throws.
   * Removes the jobs that wait for a free slot, so that they never start, and returns their claims.
   */
  cancel(claims: Iterable<Claim>): Claim[] {
    const requested = new Map<string, Claim>();
    for (const claim of claims) {
      requested.set(claim.jobId, claim);
      const attempt = this.#holdings.running.get(claim.jobId);
      if (attempt !== undefined && isSame(attempt.claim, claim) && !attempt.cancelled)
        attempt.abort(new JobCancelledError());
    }
    const isRequested = ({ job: { claim } }: { job: ClaimedJob }): boolean =>
      isSame(claim, requested.get(claim.jobId));
    const removed = this.#holdings.waiting.filter(isRequested);
    if (removed.length > 0)
      this.#holdings.waiting = this.#holdings.waiting.filter((waiting) => !isRequested(waiting));
    return removed.map(({ job }) => job.claim);
  }

  /** Resolves when the transactions of all abandoned attempts have ended. */
  async abandoned(): Promise<void> {
    await Promise.all(this.#abandoned);
  }

  /** Resolves to `true` when no handler is running, or to `false` after `timeoutMs`, if it is given. */
  async finished(timeoutMs?: number): Promise<boolean> {
    if (this.#holdings.running.size === 0) return true;
    return new Promise<boolean>((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve(false), timeoutMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Terminates all threads, including threads with abandoned handlers. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #runOf({ definition, run }: JobHandler): RunJob<unknown> {
    if (typeof run === 'function') return run;
    const { retryOn = [], giveUpOn = [] } = definition.retryRules;
    // The context is always the attempt, because middleware cannot replace it.
    return (context) => this.#threads.run(run.module, context as RunningAttempt, [...retryOn, ...giveUpOn]);
  }

  #abandon(ending: Promise<void>): void {
    const ended = ending.finally(() => this.#abandoned.delete(ended));
    this.#abandoned.add(ended);
  }

  #startNext(): void {
    let started = 0;
    while (
      this.#holdings.running.size < this.#options.concurrency &&
      started < this.#holdings.waiting.length
    ) {
      const next = this.#holdings.waiting[started++];
      if (next === undefined) continue;
      this.#run(next.job).catch((error: unknown) => this.#failUnexpectedly(next.job, error));
    }
    if (started > 0) this.#holdings.waiting.splice(0, started);
    this.#options.onRunning(this.#holdings.running.size);
    if (this.#holdings.running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #run(claimed: ClaimedJob): Promise<void> {
    const handler = this.#handlers.get(claimed.name);
    const { job, refusal } = this.#read(claimed, handler);
    const attempt = new RunningAttempt(job, handler?.options ?? this.#attemptOptions, (outcome) => {
      limit?.cancel();
      // A handler that goes on after its time limit, and then waits, has failed like one that returns.
      const { timeout } = attempt;
      const ended = timeout === null ? outcome : failure(job, timeout, handler, attempt);
      void attempt.flushReport().then(() => this.#settle(attempt, job, ended));
    });
    this.#holdings.running.set(job.claim.jobId, attempt);
    this.#started++;
    const { timings, clock } = this.#options.storage;
    const wait = waitOf(job, clock.now());
    this.#options.onStart(job, wait);
    timings.started(job.claim.queue, job.name, wait);
    const timeoutMs = timeoutOf(job) ?? handler?.definition.timeoutMs ?? null;
    const limit: TimeLimit | null = timeoutMs === null ? null : this.#limit(attempt, job, handler, timeoutMs);
    // Awaited even if refused, because an attempt must not end while `#startNext` starts it.
    const outcome = await (refusal ?? this.#outcomeOf(attempt, job, handler));
    limit?.cancel();
    if (attempt.unreported) await attempt.flushReport();
    this.#settle(attempt, job, outcome);
  }

  /** Returns a job with the arguments for its handler. If it must not run, also returns the outcome of the attempt. */
  #read(job: ClaimedJob, handler: JobHandler | undefined): { job: ClaimedJob; refusal: Outcome | null } {
    if (handler === undefined) return { job, refusal: null };
    const { version: known } = handler.definition;
    const version = definitionVersion(job.meta);
    if (version > known) return { job, refusal: this.#newerVersions.putOff(job, version, known) };
    return withReadArgs(job, handler);
  }

  #settle(attempt: RunningAttempt, job: ClaimedJob, outcome: Outcome): void {
    // The attempt may have been dropped. This server may then run another attempt of the same job.
    if (this.#holdings.running.get(job.claim.jobId) !== attempt) return;
    this.#holdings.running.delete(job.claim.jobId);
    const ranMs = performance.now() - attempt.startedMs;
    this.#options.onOutcome(job, attempt.outcomeStored ? null : outcome, ranMs);
    const kind = attempt.outcomeStored ? 'done' : outcome.kind;
    this.#options.storage.timings.ended(job.claim.queue, job.name, kind, ranMs);
    this.#startNext();
  }

  /** Logs an unexpected internal error and fails the job. Other jobs are not affected. */
  #failUnexpectedly(job: ClaimedJob, error: unknown): void {
    this.#options.logger.error({ err: error, claim: job.claim }, 'an attempt ended with an unexpected error');
    const attempt = this.#holdings.running.get(job.claim.jobId);
    if (attempt !== undefined && isSame(attempt.claim, job.claim))
      this.#settle(attempt, job, { kind: 'failed', error: toJobError(error) });
  }

  /**
   * Starts the time limit of an attempt. At the limit, aborts the signal. If the handler has not ended after the grace
   * period, stores the outcome without waiting for the handler.
   */
  #limit(
    attempt: RunningAttempt,
    job: ClaimedJob,
    handler: JobHandler | undefined,
    timeoutMs: number,
  ): TimeLimit {
    const { logger, timeoutGraceMs: graceMs } = this.#options;
    const error = new JobTimeoutError(timeoutMs);
    return new TimeLimit({
      timeoutMs,
      graceMs,
      onTimeout: () => attempt.abort(error),
      onGraceOver: () => {
        if (this.#holdings.running.get(job.claim.jobId) !== attempt) return;
        const { name, claim } = job;
        logger.warn(
          { name, claim, timeoutMs, graceMs },
          'a handler did not stop after its timeout; its job continues without it',
        );
        const outcome = failure(job, error, handler, attempt);
        // The handler's transaction must end first, because its lock on the job would block the write of the outcome.
        void attempt
          .abandon(error)
          .then(() => attempt.flushReport())
          .then(() => this.#settle(attempt, job, outcome));
      },
    });
  }

  async #outcomeOf(
    attempt: RunningAttempt,
    job: ClaimedJob,
    handler: RunnableHandler | undefined,
  ): Promise<Outcome> {
    try {
      if (handler === undefined)
        throw new Error(`The storage returned the job "${job.name}", for which this server has no handler`);
      const result = await handler.run(attempt);
      if (attempt.hasSteps) await attempt.endSteps();
      if (attempt.timeout !== null) throw attempt.timeout;
      return { kind: 'done', result: handler.options.toResult(result) };
    } catch (error) {
      if (attempt.hasSteps) await attempt.endSteps({ error });
      return failure(job, error, handler, attempt);
    }
  }
}

/**
 * Returns the time limit that was set when the job was enqueued. Returns `null` if there is none or it is out of
 * bounds.
 */
function timeoutOf({ meta }: ClaimedJob): number | null {
  const { timeoutMs } = meta ?? {};
  const { min, max } = bounds.timeoutMs;
  return timeoutMs !== undefined && timeoutMs >= min && timeoutMs <= max ? timeoutMs : null;
}

/** Returns whether two claims of the same job belong to the same attempt. */
function isSame(claim: Claim, other: Claim | undefined): boolean {
  return claim.serverId === other?.serverId && claim.attempt === other.attempt;
}

interface TimeLimitOptions {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onTimeout: () => void;
  readonly onGraceOver: () => void;
}

/**
 * Calls `onTimeout` after `timeoutMs`, and `onGraceOver` after another `graceMs`. `cancel` prevents the calls that are
 * still pending.
 */
class TimeLimit {
  #timer: NodeJS.Timeout;

  constructor({ timeoutMs, graceMs, onTimeout, onGraceOver }: TimeLimitOptions) {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(onGraceOver, graceMs);
      onTimeout();
    }, timeoutMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
