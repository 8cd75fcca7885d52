import type { Database } from '../connection/database.js';
import { prepared } from '../connection/statement.js';

export const rewriteCounts = prepared(
  'longshore-rewrite-counts',
  'select longshore.rewrite_counts() as rewritten',
);

/** $1 table. */
export const rewriteSmallTable = prepared(
  'longshore-rewrite-small-table',
  'select longshore.rewrite_small_table($1::regclass, 10000) as rewritten',
);

/**
 * Pauses in milliseconds: after a rewrite, and after a rewrite that could not lock its table, which doubles with each
 * failure.
 */
const restMs = 5_000;
const minRetryMs = 5_000;
const maxRetryMs = 60_000;

/**
 * Keeps frequently read small tables small. Vacuum normally does this, but a forgotten transaction keeps dead rows
 * alive. After a million jobs, claims from queues with limits, rescues and the resolution of dependencies would then
 * take ten times as long, because they read these tables completely. Does nothing while a backup (pg_dump) locks the
 * tables.
 */
export class BloatControl {
  readonly #database: Database;
  readonly #tables = new Map<string, { nextAtMs: number; retryMs: number }>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param tables the tables that have grown */
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
