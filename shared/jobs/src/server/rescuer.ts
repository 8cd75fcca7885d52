import type { Maintenance } from '../storage/maintenance.js';
import type { Logger } from './logger.js';

/**
 * Reclaims the jobs of dead servers and jobs with an expired lease. Every server does this for the jobs of all servers.
 */
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
