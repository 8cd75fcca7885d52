import type { Maintenance } from '../storage/maintenance.js';

const intervalMs = 1_000;

/**
 * Runs the storage's regular maintenance, such as updating counters, managing partitions and deleting jobs whose
 * retention has expired.
 */
export class Cleaner {
  readonly #maintenance: Maintenance;

  constructor(maintenance: Maintenance) {
    this.#maintenance = maintenance;
  }

  async runOnce(): Promise<number> {
    await this.#maintenance.maintain();
    return intervalMs;
  }
}
