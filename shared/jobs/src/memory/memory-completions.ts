import { clampDelay } from '../job/bounds.js';
import type { Claim, Completion, Outcome } from '../job/job.js';
import type { Clock } from '../storage/clock.js';
import type { Completions } from '../storage/completions.js';
import { endAttempt, holds, type JobRecord, undoStart } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import { itemOfJob, type MemorySetAside } from './memory-set-aside.js';

/** Records how the attempts of one process ended. */
export class MemoryCompletions implements Completions {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #setAside: MemorySetAside;

  constructor(jobs: MemoryJobs, clock: Clock, setAside: MemorySetAside) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#setAside = setAside;
  }

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const { claim, outcome } of completions) {
      const record = this.#jobs.find(claim.jobId);
      if (holds(record, claim))
        this.#setAside.attempt(itemOfJob('completer', record), () => this.#record(record, outcome));
      else stale.push(claim);
    }
    return stale;
  }

  async completeInTransaction(): Promise<void> {
    throw new TypeError('The memory storage has no transactions: return the result instead');
  }

  #record(record: JobRecord, outcome: Outcome): void {
    const now = this.#clock.now();
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
