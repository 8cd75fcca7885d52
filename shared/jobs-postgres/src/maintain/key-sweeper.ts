import type { Database } from '../connection/database.js';
import { sweepUnique, type SweptRow } from '../enqueue/unique-keys.sql.js';

/** Keys looked at in one statement. */
const chunk = 1_000;

/** Between two looks, as long as they find little. */
const restMs = 15_000;

/** A look that finds this share of its keys stale is followed by the next one at once. */
const worthwhile = 0.25;

const start: readonly [queueId: number, scope: string, key: string] = [0, '', ''];

/**
 * Deletes keys that mean nothing any more, so that the table stays in proportion to the jobs that hold one. Walks through it
 * bit by bit: fast while it finds much, slowly otherwise. Nothing depends on it but the size of the table.
 */
export class KeySweeper {
  readonly #database: Database;
  #after = start;
  #restsUntil = -Infinity;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Sweeps a bit, if it is time. */
  async runOnce(): Promise<void> {
    if (performance.now() < this.#restsUntil) return;
    const { seen, stale } = await this.sweep();
    if (stale === 0 || stale < seen * worthwhile) this.#restsUntil = performance.now() + restMs;
  }

  /** Looks at the next keys, however long ago the last look was. */
  async sweep(): Promise<{ seen: number; stale: number }> {
    const rows = await this.#database.query<SweptRow>(sweepUnique, [...this.#after, chunk]);
    const last = rows.length < chunk ? undefined : rows.at(-1);
    this.#after = last === undefined ? start : [last.queue_id, last.scope, last.key];
    return { seen: rows.length, stale: rows.filter(({ stale }) => stale).length };
  }
}
