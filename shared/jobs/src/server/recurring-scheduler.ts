import type { NewRecurringJob } from '../recurring/recurring-job.js';
import type { RecurringJobs } from '../storage/recurring-jobs.js';
import { backgroundPollMs } from './background-poll.js';
import type { Logger } from './logger.js';

const batch = 100;

/**
 * Enqueues the jobs of due recurring jobs. Every server does this. The storage ensures that only one server handles
 * each due time.
 */
export class RecurringScheduler {
  readonly #store: RecurringJobs;
  readonly #logger: Logger;
  readonly #isNotified: () => boolean;

  constructor(store: RecurringJobs, logger: Logger, isNotified: () => boolean) {
    this.#store = store;
    this.#logger = logger;
    this.#isNotified = isNotified;
  }

  /** Adds, updates and removes the application's stored recurring jobs to match the given ones. */
  async synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<void> {
    const report = await this.#store.synchronize(application, jobs);
    const { added, updated, removed, refused } = report;
    if (added.length + updated.length + removed.length > 0) {
      this.#logger.info({ application, added, updated, removed }, 'recurring jobs synchronized');
    }
    if (refused.length > 0) {
      const message = 'recurring jobs with these ids have another owner and were not changed; use other ids';
      this.#logger.warn({ application, refused }, message);
    }
  }

  async runOnce(): Promise<number> {
    const { fired, nextDueMs } = await this.#store.fireDue(batch);
    for (const { id, skipped } of fired) {
      if (skipped === null) continue;
      this.#logger.warn({ recurringJobId: id, ...skipped }, 'due times of a recurring job were skipped');
    }
    return backgroundPollMs(this.#isNotified(), nextDueMs);
  }
}
