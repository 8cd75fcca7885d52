import type { NewRecurringJob } from '../recurring/recurring-job.js';
import type { RecurringJobs } from '../storage/recurring-jobs.js';
import type { Logger } from './logger.js';

const batch = 100;

/** A recurring job of which no wake-up told, or that waits for its last job to finish, is looked at after this. */
const maxPauseMs = 1_000;

/** Enqueues the jobs of recurring jobs when they are due. Every server does it; the storage lets one of them fire each. */
export class RecurringScheduler {
  readonly #store: RecurringJobs;
  readonly #logger: Logger;

  constructor(store: RecurringJobs, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Makes the recurring jobs of an application those that its code defines. */
  async synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<void> {
    const report = await this.#store.synchronize(application, jobs);
    const { added, updated, removed, refused } = report;
    if (added.length + updated.length + removed.length > 0) {
      this.#logger.info({ application, added, updated, removed }, 'recurring jobs brought up to date');
    }
    if (refused.length > 0) {
      const message = 'recurring jobs with these ids belong to somebody else and were left alone; use others';
      this.#logger.warn({ application, refused }, message);
    }
  }

  async runOnce(): Promise<number> {
    const { fired, nextDueMs } = await this.#store.fireDue(batch);
    for (const { id, passedOver } of fired) {
      if (passedOver === null) continue;
      this.#logger.warn(
        { recurringJobId: id, ...passedOver },
        'due times of a recurring job passed without a job',
      );
    }
    return Math.min(Math.ceil(nextDueMs ?? maxPauseMs), maxPauseMs);
  }
}
