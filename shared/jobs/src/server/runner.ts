import { toJsonText } from '../job/arguments.js';
import { CancelJob, JobCancelledError, SnoozeJob, UnknownJobError } from '../job/errors.js';
import { toJobError } from '../job/failure.js';
import type { Claim, ClaimedJob, Outcome } from '../job/job.js';
import { defaultRetryDelay } from '../job/retry.js';
import type { ClaimStore } from '../storage/storage.js';
import type { JobHandler } from './handler.js';
import { RunningAttempt } from './running-attempt.js';

export interface RunnerOptions {
  readonly handlers: readonly JobHandler[];
  readonly store: ClaimStore;
  readonly concurrency: number;
  /** Called once for each attempt that ended while its claim held; `null` if the outcome has been written already. */
  readonly onOutcome: (job: ClaimedJob, outcome: Outcome | null) => void;
}

/** Holds claimed jobs and runs their handlers, `concurrency` of them at a time. */
export class Runner {
  readonly #handlers = new Map<string, JobHandler>();
  readonly #options: RunnerOptions;
  readonly #running = new Map<string, RunningAttempt>();
  #waiting: ClaimedJob[] = [];
  #idle: (() => void)[] = [];

  /** @throws {RangeError} if two handlers bear one name */
  constructor(options: RunnerOptions) {
    this.#options = options;
    for (const handler of options.handlers) {
      const { name } = handler.definition;
      if (this.#handlers.has(name)) throw new RangeError(`Two handlers for the job "${name}"`);
      this.#handlers.set(name, handler);
    }
  }

  /** Jobs that run. */
  get running(): number {
    return this.#running.size;
  }

  /** Jobs held: running ones and those that wait for their turn. */
  get held(): number {
    return this.#running.size + this.#waiting.length;
  }

  /** The claims of all jobs held. */
  *claims(): Iterable<Claim> {
    for (const { claim } of this.#running.values()) yield claim;
    for (const { claim } of this.#waiting) yield claim;
  }

  take(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.#waiting.push(job);
    this.#startNext();
  }

  /** Hands back the jobs that have not been started. */
  giveBackWaiting(): ClaimedJob[] {
    return this.#waiting.splice(0);
  }

  /** Forgets these claims and aborts their handlers: whatever they return will not be recorded. */
  drop(claims: Iterable<Claim>, reason: Error): void {
    const lost = new Set<string>();
    for (const claim of claims) {
      lost.add(claim.jobId);
      this.#running.get(claim.jobId)?.abort(reason);
      this.#running.delete(claim.jobId);
    }
    this.#waiting = this.#waiting.filter(({ claim }) => !lost.has(claim.jobId));
    this.#startNext();
  }

  /** Aborts the signals of jobs that somebody cancelled; how they end is up to their handlers. */
  cancel(claims: Iterable<Claim>): void {
    for (const claim of claims) {
      const attempt = this.#running.get(claim.jobId);
      if (attempt?.claim.attempt === claim.attempt && !attempt.cancelled)
        attempt.abort(new JobCancelledError());
    }
  }

  /** Claims of the jobs that run. */
  runningClaims(): Claim[] {
    return [...this.#running.values()].map(({ claim }) => claim);
  }

  /** Resolves when no handler runs, `true`; or after `timeoutMs`, `false`. */
  async finished(timeoutMs: number): Promise<boolean> {
    if (this.#running.size === 0) return true;
    return new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #startNext(): void {
    let started = 0;
    while (this.#running.size < this.#options.concurrency && started < this.#waiting.length) {
      const job = this.#waiting[started++];
      if (job !== undefined) void this.#run(job);
    }
    if (started > 0) this.#waiting.splice(0, started);
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #run(job: ClaimedJob): Promise<void> {
    const attempt = new RunningAttempt(job, this.#options.store);
    this.#running.set(job.claim.jobId, attempt);
    const outcome = await this.#outcomeOf(attempt, job);
    // A dropped claim may have come back to this very server meanwhile, as another attempt.
    if (this.#running.get(job.claim.jobId) !== attempt) return;
    this.#running.delete(job.claim.jobId);
    this.#options.onOutcome(job, attempt.recorded ? null : outcome);
    this.#startNext();
  }

  async #outcomeOf(attempt: RunningAttempt, job: ClaimedJob): Promise<Outcome> {
    const handler = this.#handlers.get(job.name);
    try {
      if (handler === undefined) throw new UnknownJobError(job.name, [...this.#handlers.keys()]);
      const result = await handler.run(attempt);
      return { kind: 'done', result: toJsonText(result ?? null, 'result') };
    } catch (error) {
      return failure(job, error, handler, attempt.cancelled);
    }
  }
}

function failure(
  job: ClaimedJob,
  thrown: unknown,
  handler: JobHandler | undefined,
  cancelled: boolean,
): Outcome {
  if (thrown instanceof SnoozeJob && !cancelled) return { kind: 'snooze', delayMs: thrown.delayMs };
  const error = toJobError(thrown);
  if (cancelled || thrown instanceof CancelJob) return { kind: 'cancelled', error };
  const { attempt } = job.claim;
  if (attempt >= job.maxAttempts) return { kind: 'failed', error };
  const retryDelay = handler?.definition.retryDelay ?? defaultRetryDelay;
  try {
    return { kind: 'retry', error, delayMs: Math.max(0, retryDelay(attempt, thrown)) || 0 };
  } catch {
    return { kind: 'retry', error, delayMs: defaultRetryDelay(attempt, thrown) };
  }
}
