import type { FinishedState, RetentionDays } from '@longshore/jobs';
import { codeOf, type Database } from './database.js';
import { countOff, dropPartition, lockPartition, onlyDropper, selectPartitions } from './sql/retention.js';

/** How long what attempts said of themselves is kept. */
export function longestOf(days: RetentionDays): number {
  return Math.max(...Object.values(days));
}

/** Dropping waits this long for statements under way; whoever comes later waits behind it, so it must not be long. */
const lockTimeoutMs = 500;

const dayMs = 86_400_000;

/** Drops the days of history that nobody wants to keep: whole tables, so no row is deleted and nothing is left to vacuum. */
export class Retention {
  readonly #database: Database;
  readonly #days: RetentionDays;

  constructor(database: Database, days: RetentionDays) {
    this.#database = database;
    this.#days = days;
  }

  /** Resolves to the names of the tables that were dropped. A table in use stays until the next round. */
  async dropOldDays(now: Date = new Date()): Promise<string[]> {
    const partitions = await this.#database.query<{
      name: string;
      state: FinishedState | null;
      day: string;
    }>(selectPartitions);
    const dropped: string[] = [];
    for (const { name, state, day } of partitions) {
      const endsAt = Date.parse(`${day}T00:00:00Z`) + dayMs;
      const days = state === null ? longestOf(this.#days) : this.#days[state];
      if (endsAt + days * dayMs > now.getTime()) continue;
      if (await this.#drop(name, state)) dropped.push(name);
    }
    return dropped;
  }

  /** The counters lose what the table held in the transaction that drops it. */
  async #drop(name: string, state: FinishedState | null): Promise<boolean> {
    try {
      await this.#database.transaction(async (client) => {
        await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
        await client.query(onlyDropper.text);
        await client.query(lockPartition(name));
        if (state !== null) await client.query(countOff(name), [state]);
        await client.query(dropPartition(name));
      });
      return true;
    } catch (error) {
      const cause: unknown = error instanceof Error ? error.cause : undefined;
      // Somebody reads or changes it (55P03), or another server has just dropped it (42P01).
      if (['55P03', '42P01', '40P01'].includes(codeOf(cause ?? error))) return false;
      throw error;
    }
  }
}
