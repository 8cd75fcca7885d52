import type { Maintenance } from '../storage/maintenance.js';
import type { Logger } from './logger.js';

/** Takes back the jobs of dead servers and of expired leases. Every server does this for all. */
export class Rescuer {
  readonly #maintenance: Maintenance;
  readonly #intervalMs: number;
  readonly #logger: Logger;

  constructor(maintenance: Maintenance, intervalMs: number, logger: Logger) {
    this.#maintenance = maintenance;
    this.#intervalMs = intervalMs;
    this.#logger = logger;
  }

  async runOnce(): Promise<number> {
    const report = await this.#maintenance.rescue();
    if (report.deadServers.length + report.released + report.failed > 0) {
      this.#logger.warn({ ...report }, 'took back jobs whose leases were lost');
    }
    return this.#intervalMs;
  }
}
