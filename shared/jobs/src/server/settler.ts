import type { Maintenance } from '../storage/maintenance.js';

const batch = 500;

/** A move that no wake-up told of, or whose server died before it settled it, is noticed after this. */
const intervalMs = 1_000;

/** What was settled may have consequences of its own: a job that is cancelled takes those with it that wait for it. */
const againMs = 10;

/** Draws the consequences of jobs' moves for the jobs that depend on them: batches, continuations, concurrency keys. */
export class Settler {
  readonly #maintenance: Maintenance;

  constructor(maintenance: Maintenance) {
    this.#maintenance = maintenance;
  }

  async runOnce(): Promise<number> {
    const settled = await this.#maintenance.resolveDependencies(batch);
    if (settled >= batch) return 0;
    return settled > 0 ? againMs : intervalMs;
  }
}
