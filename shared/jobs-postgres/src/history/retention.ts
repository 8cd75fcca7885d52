import type { RetentionDays } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import {
  deleteStrays,
  dropPartition,
  type ExpiredDay,
  isInUse,
  lockPartition,
  lockPartitions,
  noteExpiring,
  selectExpired,
  subtractFromCounters,
} from './history-days.js';

/** Returns how many days reports are kept: the longest retention of any state. */
export function longestOf(days: RetentionDays): number {
  return Math.max(...Object.values(days));
}

/**
 * Lock timeout for dropping a partition, in milliseconds. Short, because other statements queue behind a waiting lock
 * request.
 */
const lockTimeoutMs = '500';

/**
 * Drops expired days of history. Dropping a day's partition leaves no dead rows to vacuum. Rows in a default partition
 * are deleted instead. Uses the database's clock. Drops a day no sooner than 20 hours after its expiry was first
 * recorded, so that there is time to correct a clock that has jumped ahead.
 */
export class Retention {
  readonly #database: Database;
  readonly #days: readonly number[];

  constructor(database: Database, days: RetentionDays) {
    this.#database = database;
    this.#days = [days.done, days.failed, days.cancelled, longestOf(days)];
  }

  /**
   * Drops expired days and resolves to the names of their partitions. Skips partitions that are in use; a later run
   * tries again.
   */
  async dropOldDays(): Promise<string[]> {
    await this.#database.query(noteExpiring, [...this.#days]);
    const dropped: string[] = [];
    for (const day of await this.#database.query<ExpiredDay>(selectExpired, [...this.#days])) {
      if (day.stray) await this.#deleteStrays(day);
      else if (!(await this.#drop(day))) continue;
      dropped.push(day.part);
    }
    return dropped;
  }

  /**
   * Drops a day's partition and, in the same transaction, subtracts its jobs from the counters. Resolves to `false` if
   * the partition is in use or no longer exists.
   */
  async #drop({ part, state }: ExpiredDay): Promise<boolean> {
    try {
      await this.#database.transaction(
        async (client) => {
          await client.query(lockPartitions);
          await client.query(lockPartition(part));
          if (state !== null) await client.query(subtractFromCounters(part), [state]);
          await client.query(dropPartition(part));
        },
        { lock_timeout: lockTimeoutMs },
      );
      return true;
    } catch (error) {
      if (isInUse(error) || sqlStateOf(error) === '42P01') return false; // in use, or just dropped by another server
      throw error;
    }
  }

  async #deleteStrays(day: ExpiredDay): Promise<void> {
    const statement = deleteStrays[day.history];
    for (let rows = 1; rows > 0;) {
      const [gone] = await this.#database.query<{ rows: number }>(statement, [day.part.slice(-8)]);
      rows = gone?.rows ?? 0;
    }
  }
}
