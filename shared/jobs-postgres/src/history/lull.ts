import type { Database } from '../connection/database.js';
import { areBehind } from '../queues/counters.js';

/** How long servers must have kept up with their jobs before deferred work can start, in milliseconds. */
const usualQuietMs = 60_000;

/** Maximum time that work is deferred, in milliseconds. */
const maxDeferMs = 6 * 3_600_000;

/**
 * Defers CPU-intensive work until servers have kept up with their jobs for a while, by default a minute. After six
 * hours, the work can start in any case.
 */
export class Lull {
  readonly #database: Database;
  readonly #quietMs: number;
  readonly #now: () => number;
  #waitingSince: number | undefined;
  #quietSince = -Infinity;

  /** @param now returns the time in milliseconds */
  constructor(database: Database, quietMs = usualQuietMs, now = () => performance.now()) {
    this.#database = database;
    this.#quietMs = quietMs;
    this.#now = now;
  }

  /** Returns whether the work can start now. Call this about once a second while there is work to do. */
  async canStart(): Promise<boolean> {
    const now = this.#now();
    if (this.#waitingSince === undefined) {
      this.#waitingSince = now;
      this.#quietSince = now;
    }
    const [row] = await this.#database.query<{ behind: boolean }>(areBehind);
    if (row?.behind === true) this.#quietSince = this.#now();
    return this.#now() - this.#quietSince >= this.#quietMs || now - this.#waitingSince >= maxDeferMs;
  }

  /** Call this when the work is finished, so that later work is deferred again. */
  end(): void {
    this.#waitingSince = undefined;
  }
}
