import type { Maintenance } from '../storage/maintenance.js';

const batch = 500;

/** Finds changes whose notification was lost or whose server died before resolving them. */
const intervalMs = 1_000;

/** Resolving may finish further jobs: a cancelled dependent cancels its own dependents. */
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
