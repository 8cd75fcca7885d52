import type { Maintenance } from '../storage/maintenance.js';

const batch = 1_000;

/** Maximum pause between rounds, in milliseconds. Finds scheduled jobs whose notification was lost. */
const maxPauseMs = 1_000;

/**
 * Makes scheduled jobs ready when they are due. Every server runs one of these; the storage assigns each job to one of
 * them.
 */
export class Scheduler {
  readonly #maintenance: Maintenance;

  constructor(maintenance: Maintenance) {
    this.#maintenance = maintenance;
  }

  async runOnce(): Promise<number> {
    const { nextDueMs } = await this.#maintenance.promoteDue(batch);
    return Math.min(nextDueMs ?? maxPauseMs, maxPauseMs);
  }
}
