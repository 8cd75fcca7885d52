import type { Maintenance } from '../storage/maintenance.js';
import { backgroundPollMs } from './background-poll.js';

const batch = 100;

/**
 * Resumes queues, job types and recurring jobs at the end of their pauses. Every server does this. The storage ensures
 * that only one server ends each pause.
 */
export class Resumer {
  readonly #maintenance: Maintenance;
  readonly #isNotified: () => boolean;

  constructor(maintenance: Maintenance, isNotified: () => boolean) {
    this.#maintenance = maintenance;
    this.#isNotified = isNotified;
  }

  async runOnce(): Promise<number> {
    const { nextDueMs } = await this.#maintenance.resumeDue(batch);
    return backgroundPollMs(this.#isNotified(), nextDueMs);
  }
}
