import type { Database } from '../connection/database.js';
import { areBehind } from '../read/counters.sql.js';

/** So long servers must have kept up, in milliseconds. */
const usualQuietMs = 60_000;

/** Work that can wait does not wait longer than this, in milliseconds. */
const patienceMs = 6 * 3_600_000;

/**
 * Waits for a time when servers keep up with their jobs, for work that takes a processor for a while and that nobody needs at
 * once. Where they never do, it waits six hours.
 */
export class Lull {
  readonly #database: Database;
  readonly #quietMs: number;
  #waitingSince: number | undefined;
  #quietSince = -Infinity;

  constructor(database: Database, quietMs = usualQuietMs) {
    this.#database = database;
    this.#quietMs = quietMs;
  }

  /** Whether it has come. To be asked about every second from when the work is wanted. */
  async hasCome(): Promise<boolean> {
    const now = performance.now();
    if (this.#waitingSince === undefined) {
      this.#waitingSince = now;
      this.#quietSince = now;
    }
    const [row] = await this.#database.query<{ behind: boolean }>(areBehind);
    if (row?.behind === true) this.#quietSince = performance.now();
    return performance.now() - this.#quietSince >= this.#quietMs || now - this.#waitingSince >= patienceMs;
  }

  /** The work is done: the next has to wait again. */
  end(): void {
    this.#waitingSince = undefined;
  }
}
