import type { Database } from '../connection/database.js';
import { sweepUnique, type SweptRow } from '../enqueue/unique-keys.sql.js';

/** Maximum number of keys scanned by one statement. */
const chunk = 1_000;

/** Pause after a scan that found few stale keys, in milliseconds. */
const restMs = 15_000;

/** If at least this share of the scanned keys is stale, the next scan follows without a pause. */
const worthwhile = 0.25;

const start: readonly [queueId: number, scope: string, key: string] = [0, '', ''];

/**
 * Deletes stale keys: unique keys and idempotency keys that no longer have an effect. Scans the table in chunks, and
 * pauses after a chunk with few stale keys.
 */
export class KeySweeper {
  readonly #database: Database;
  #after = start;
  #restsUntil = -Infinity;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Scans the next chunk. Does nothing during a pause. */
  async runOnce(): Promise<void> {
    if (performance.now() < this.#restsUntil) return;
    const { seen, stale } = await this.sweep();
    if (stale === 0 || stale < seen * worthwhile) this.#restsUntil = performance.now() + restMs;
  }

  /**
   * Scans the next chunk, even during a pause. Resolves to the number of keys scanned and the number of stale keys
   * deleted.
   */
  async sweep(): Promise<{ seen: number; stale: number }> {
    const rows = await this.#database.query<SweptRow>(sweepUnique, [...this.#after, chunk]);
    const last = rows.length < chunk ? undefined : rows.at(-1);
    this.#after = last === undefined ? start : [last.queue_id, last.namespace, last.key];
    return { seen: rows.length, stale: rows.filter(({ stale }) => stale).length };
  }
}
