import type { ClaimStore } from '../storage/storage.js';
import type { Logger } from './logger.js';

/** Takes jobs back from servers that died and from claims that nobody renews. Every server does it for all. */
export class Rescuer {
  readonly #store: ClaimStore;
  readonly #intervalMs: number;
  readonly #logger: Logger;

  constructor(store: ClaimStore, intervalMs: number, logger: Logger) {
    this.#store = store;
    this.#intervalMs = intervalMs;
    this.#logger = logger;
  }

  async runOnce(): Promise<number> {
    const report = await this.#store.rescue();
    if (report.deadServers.length + report.released + report.failed > 0) {
      this.#logger.warn({ ...report }, 'took jobs back from lost claims');
    }
    return this.#intervalMs;
  }
}
