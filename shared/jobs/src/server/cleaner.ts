import type { Maintenance } from '../storage/maintenance.js';

const minPauseMs = 1_000;

/**
 * Maximum pause between rounds, in milliseconds. The pause doubles while there is nothing to do, and otherwise halves: a
 * single job is no reason for more rounds.
 */
const maxPauseMs = 10_000;

/** Runs the storage's regular maintenance, such as updating counters, managing partitions and deleting expired jobs. */
export class Cleaner {
  readonly #maintenance: Maintenance;
  #pauseMs = minPauseMs;

  constructor(maintenance: Maintenance) {
    this.#maintenance = maintenance;
  }

  async runOnce(): Promise<number> {
    const isActive = await this.#maintenance.maintain();
    this.#pauseMs = isActive
      ? Math.max(this.#pauseMs / 2, minPauseMs)
      : Math.min(2 * this.#pauseMs, maxPauseMs);
    return this.#pauseMs;
  }
}
