import { codeOf, type Database } from '../connection/database.js';
import { haveStrays, makeDay, type MissingDay, selectMissingDays } from './history-days.sql.js';

/** Today's partitions are there long before they are needed: a week without any server leaves enough. */
const daysAhead = 8;

/** A day is made in the pauses of those who use the default partition; later ones wait behind it, so it must be short. */
const lockTimeoutMs = '500';

const hourMs = 3_600_000;
const firstPauseMs = 1_000;

/** Whether a table was in use for longer than a change of the set of partitions waits (55P03, 40P01). */
export function isInUse(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return ['55P03', '40P01'].includes(codeOf(cause ?? error));
}

/**
 * Makes a partition for each day of history, long before it is needed. What ends on a day that has none goes to a default
 * partition and is moved as soon as that is seen.
 */
export class HistoryDays {
  readonly #database: Database;
  #madeAt = -Infinity;
  #pauseMs = firstPauseMs;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes what is missing: every hour, and when rows have gone to a default partition. Cheap if neither is the case. */
  async runOnce(): Promise<void> {
    const agoMs = performance.now() - this.#madeAt;
    if (agoMs < this.#pauseMs) return;
    const [found] = await this.#database.query<{ strays: boolean }>(haveStrays);
    if (found?.strays !== true) this.#pauseMs = firstPauseMs;
    else if (agoMs < hourMs) this.#pauseMs = Math.min(2 * this.#pauseMs, hourMs); // it may be in vain: the rows are too many
    if (found?.strays === true || agoMs >= hourMs) await this.make();
  }

  /** Makes what is missing now. A day that somebody is in the way of stays missing until the next time. */
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
