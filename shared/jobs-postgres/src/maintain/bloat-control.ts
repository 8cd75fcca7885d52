import type { Database } from '../connection/database.js';
import { prepared } from '../connection/statement.js';

/** Rewrites `job_count` with one row per queue and state. Returns `false` if the table could not be locked. */
export const rewriteCounts = prepared(
  'longshore-rewrite-counts',
  'select longshore.rewrite_counts() as rewritten',
);

/** $1 table. Rewrites a table with at most 10,000 live rows. Returns `false` if it has more or could not be locked. */
export const rewriteSmallTable = prepared(
  'longshore-rewrite-small-table',
  'select longshore.rewrite_small_table($1::regclass, 10000) as rewritten',
);

/**
 * Pauses between rewrites of the same table, in milliseconds. `restMs` applies after a successful rewrite. After a
 * failure, the pause starts at `minRetryMs` and doubles with each further failure, up to `maxRetryMs`.
 */
const restMs = 5_000;
const minRetryMs = 5_000;
const maxRetryMs = 60_000;

/**
 * Keeps small, frequently read tables small by rewriting them. Vacuum cannot remove dead rows while an old transaction
 * is open. Operations that read a whole table, such as claims from queues with limits, would then take ten times as
 * long after a million jobs. Tables are not rewritten while a backup (pg_dump) locks them.
 */
export class BloatControl {
  readonly #database: Database;
  readonly #tables = new Map<string, { nextAtMs: number; retryMs: number }>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param tables names of the tables that have grown, without the schema */
  async runOnce(tables: readonly string[]): Promise<void> {
    for (const name of tables) {
      const nowMs = performance.now();
      const { nextAtMs, retryMs } = this.#tables.get(name) ?? { nextAtMs: nowMs, retryMs: minRetryMs };
      if (nowMs < nextAtMs) continue;
      const rewritten = await this.#rewrite(name);
      this.#tables.set(name, {
        nextAtMs: performance.now() + (rewritten ? restMs : retryMs),
        retryMs: rewritten ? minRetryMs : Math.min(2 * retryMs, maxRetryMs),
      });
    }
  }

  async #rewrite(name: string): Promise<boolean> {
    const [row] =
      name === 'job_count'
        ? await this.#database.query<{ rewritten: boolean }>(rewriteCounts)
        : await this.#database.query<{ rewritten: boolean }>(rewriteSmallTable, [
            `${this.#database.schema.name}.${name}`,
          ]);
    return row?.rewritten === true;
  }
}
