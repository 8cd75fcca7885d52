import type { Maintenance } from '../storage/maintenance.js';

const batch = 500;

/**
 * Polling interval in milliseconds. Finds changes whose notification was lost or whose server died before resolving
 * them.
 */
const intervalMs = 1_000;

/**
 * Delay in milliseconds after a round that resolved something. That may have finished further jobs: cancelling a
 * dependent also cancels its own dependents.
 */
const againMs = 10;

/** Updates batches, dependents and blocked jobs after jobs have finished. */
export class DependencyResolver {
  readonly #maintenance: Maintenance;

  constructor(maintenance: Maintenance) {
    this.#maintenance = maintenance;
  }

  async runOnce(): Promise<number> {
    const resolved = await this.#maintenance.resolveDependencies(batch);
    if (resolved >= batch) return 0;
    return resolved > 0 ? againMs : intervalMs;
  }
}
