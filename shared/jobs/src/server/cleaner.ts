import type { Maintenance } from '../storage/maintenance.js';

const intervalMs = 1_000;

/** Runs the storage's housekeeping: counters, partitions, retention. */
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
