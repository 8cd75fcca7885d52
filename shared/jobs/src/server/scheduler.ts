import type { Maintenance } from '../storage/maintenance.js';
import { backgroundPollMs } from './background-poll.js';

const batch = 1_000;

/**
 * Makes scheduled jobs ready when they are due. Every server does this; the storage ensures that each job is handled by
 * only one server.
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
