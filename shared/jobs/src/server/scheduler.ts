import type { Maintenance } from '../storage/maintenance.js';
import { backgroundPollMs } from './background-poll.js';

const batch = 1_000;

/**
 * Makes scheduled jobs ready when they are due. Every server does this. The storage ensures that only one server
 * handles each job.
 */
export class Scheduler {
  readonly #maintenance: Maintenance;
  readonly #isNotified: () => boolean;

  constructor(maintenance: Maintenance, isNotified: () => boolean) {
    this.#maintenance = maintenance;
    this.#isNotified = isNotified;
  }

  async runOnce(): Promise<number> {
    const { nextDueMs } = await this.#maintenance.promoteDue(batch);
    return backgroundPollMs(this.#isNotified(), nextDueMs);
  }
}
