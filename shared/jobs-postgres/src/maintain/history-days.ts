import { codeOf, type Database } from '../connection/database.js';
import { makeDay, type MissingDay, selectMissingDays } from './history-days.sql.js';

/** How many days in advance partitions are created: enough for a week without any server. */
const daysAhead = 8;

/**
 * Maximum time to wait for a lock, in milliseconds. Short, because creating a day waits for statements that use the
 * default partition, and new statements wait for the creation.
 */
const lockTimeoutMs = '500';

const hourMs = 3_600_000;
const firstPauseMs = 1_000;

/**
 * Returns whether creating or dropping a partition failed because a table was in use: a lock timeout (55P03) or a
 * deadlock (40P01).
 */
export function isInUse(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return ['55P03', '40P01'].includes(codeOf(cause ?? error));
}

/**
 * Creates a partition for each day of history well in advance. Rows of a day without a partition go to a default
 * partition. They are moved to a new partition once they are noticed, unless there are too many of them.
 */
export class HistoryDays {
  readonly #database: Database;
  #madeAt = -Infinity;
  #pauseMs = firstPauseMs;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Creates missing partitions every hour, and sooner if rows have landed in a default partition.
   *
   * @param strays whether a default partition has rows
   */
  async runOnce(strays: boolean): Promise<void> {
    const agoMs = performance.now() - this.#madeAt;
    if (agoMs < this.#pauseMs) return;
    if (!strays) this.#pauseMs = firstPauseMs;
    // The last run has not moved all rows, for example because there are too many, so the next one waits longer.
    else if (agoMs < hourMs) this.#pauseMs = Math.min(2 * this.#pauseMs, hourMs);
    if (strays || agoMs >= hourMs) await this.make();
  }

  /** Creates the missing partitions now. If a table is in use, its partition stays missing until the next run. */
  async make(): Promise<void> {
    this.#madeAt = performance.now();
    const missing = await this.#database.query<MissingDay>(selectMissingDays, [daysAhead]);
    for (const { history, day } of missing) {
      try {
        await this.#database.transaction((client) => client.query(makeDay.text, [history, day]), {
          lock_timeout: lockTimeoutMs,
        });
      } catch (error) {
        if (!isInUse(error)) throw error;
      }
    }
  }
}
