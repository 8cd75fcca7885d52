import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import { makeDay, type MissingDay, selectMissingDays } from './history-days.sql.js';

/** How many days ahead partitions are created. Covers a week in which no server runs. */
const daysAhead = 8;

/**
 * Lock timeout for creating a partition, in milliseconds. Short, because other statements queue behind a waiting lock
 * request.
 */
const lockTimeoutMs = '500';

const hourMs = 3_600_000;
const firstPauseMs = 1_000;

/** Returns whether an error means that a table is in use: a lock timeout (55P03) or a deadlock (40P01). */
export function isInUse(error: unknown): boolean {
  return ['55P03', '40P01'].includes(sqlStateOf(error));
}

/**
 * Creates the daily partitions of history ahead of time. Rows of a day without a partition go to a default partition. A
 * later run creates the partition and moves the rows there, unless there are more than 100,000.
 */
export class HistoryDays {
  readonly #database: Database;
  #madeAt = -Infinity;
  #pauseMs = firstPauseMs;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Creates missing partitions if the last run was at least an hour ago, or if a default partition has rows. While rows
   * remain, the interval between runs grows from a second to an hour.
   *
   * @param strays whether a default partition has rows
   */
  async runOnce(strays: boolean): Promise<void> {
    const agoMs = performance.now() - this.#madeAt;
    if (agoMs < this.#pauseMs) return;
    if (!strays) this.#pauseMs = firstPauseMs;
    // Rows remain after a recent run, usually because there are too many to move. The next run waits longer.
    else if (agoMs < hourMs) this.#pauseMs = Math.min(2 * this.#pauseMs, hourMs);
    if (strays || agoMs >= hourMs) await this.make();
  }

  /** Creates the missing partitions now. Skips a partition if a table is in use; the next run tries again. */
  async make(): Promise<void> {
    this.#madeAt = performance.now();
    const missing = await this.#database.query<MissingDay>(selectMissingDays, [daysAhead]);
    for (const { history, day } of missing) {
      try {
        await this.#database.transaction((client) => client.query(makeDay, [history, day]), {
          lock_timeout: lockTimeoutMs,
        });
      } catch (error) {
        if (!isInUse(error)) throw error;
      }
    }
  }
}
