import { clampDelay } from '../job/bounds.js';
import type { Claim, Completion, Outcome } from '../job/job.js';
import type { Clock } from '../job/clock.js';
import { type Completions, outcomeIfCancelled } from '../storage/claims.js';
import { ClaimLostError } from '../job/errors.js';
import type { TransactionClient, TransactionWork } from '../storage/transaction.js';
import { endAttempt, hasLease, type JobRecord, undoStart } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import { itemOfJob, type MemorySetAside } from './memory-set-aside.js';

/** Runs `work` in a database transaction. Commits if `work` succeeds. Rolls back if it throws. */
export type BeginTransaction = <Result>(
  work: (client: TransactionClient) => Promise<Result>,
) => Promise<Result>;

export class MemoryCompletions implements Completions {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #setAside: MemorySetAside;
  readonly #begin: BeginTransaction | undefined;

  constructor(jobs: MemoryJobs, clock: Clock, setAside: MemorySetAside, begin: BeginTransaction | undefined) {
    this.#begin = begin;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#setAside = setAside;
  }

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const { claim, outcome } of completions) {
      const record = this.#jobs.find(claim.jobId);
      if (hasLease(record, claim) && !record.locked)
        this.#setAside.attempt(itemOfJob('completer', record), () => this.#record(record, outcome));
      else stale.push(claim);
    }
    return stale;
  }

  /**
   * Runs the work in a transaction and marks the job as done right after the commit. The job is locked until then, so the
   * lease cannot be lost during the commit. A crash between the two steps is harmless if the database also lives in this
   * process, because the crash loses both the database and the jobs.
   *
   * @throws {TypeError} if the storage has no `transaction` option
   * @throws {ClaimLostError} if the claim has lost the lease, or another transaction has locked the job
   */
  async completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void> {
    if (this.#begin === undefined)
      throw new TypeError('The memory storage has no transactions: return the result instead');
    const record = this.#jobs.find(claim.jobId);
    if (!hasLease(record, claim) || record.locked) throw new ClaimLostError(claim.jobId);
    signal?.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    aborted.catch(() => undefined); // prevents an unhandled rejection if the abort comes before the race below
    record.locked = true;
    try {
      const result = await this.#begin((client) => Promise.race([work(client), aborted]));
      this.#record(record, { kind: 'done', result });
    } finally {
      record.locked = false;
    }
  }

  #record(record: JobRecord, given: Outcome): void {
    const now = this.#clock.now();
    const outcome = record.cancelRequestedAt !== null ? outcomeIfCancelled(given) : given;
    switch (outcome.kind) {
      case 'done':
        record.result = outcome.result;
        record.error = null;
        this.#jobs.finish(record, 'done');
        break;
      case 'failed':
      case 'cancelled':
        record.error = outcome.error;
        this.#jobs.finish(record, outcome.kind);
        break;
      case 'retry':
        endAttempt(record, 'failed', outcome.error, now);
        this.#jobs.schedule(record, new Date(now + clampDelay(outcome.delayMs)), 'failed');
        break;
      case 'snooze':
        undoStart(record);
        this.#jobs.schedule(record, new Date(now + clampDelay(outcome.delayMs)), 'snoozed');
        break;
    }
  }
}
