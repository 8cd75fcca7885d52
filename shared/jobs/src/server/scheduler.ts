import type { Maintenance } from '../storage/maintenance.js';

const batch = 1_000;

/** A job scheduled by a process that could not wake this one is noticed at the latest after this. */
const maxPauseMs = 1_000;

/** Makes scheduled jobs ready when their time has come. Every server does it; the storage gives each job to one of them. */
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
