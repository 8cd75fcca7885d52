import type { Maintenance } from '../storage/maintenance.js';
import { backgroundPollMs } from './background-poll.js';

const batch = 500;

/**
 * Delay in milliseconds after a round that resolved something. More work can follow: for example, after a dependent was
 * cancelled, its own dependents may have to be cancelled too.
 */
const againMs = 10;

/** Updates batches, dependents and blocked jobs after jobs have finished. */
export class DependencyResolver {
  readonly #maintenance: Maintenance;
  readonly #isNotified: () => boolean;

  constructor(maintenance: Maintenance, isNotified: () => boolean) {
    this.#maintenance = maintenance;
    this.#isNotified = isNotified;
  }

  async runOnce(): Promise<number> {
    const resolved = await this.#maintenance.resolveDependencies(batch);
    if (resolved >= batch) return 0;
    return resolved > 0 ? againMs : backgroundPollMs(this.#isNotified());
  }
}
