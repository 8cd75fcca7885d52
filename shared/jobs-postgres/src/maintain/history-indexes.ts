import { codeOf, type Database } from '../connection/database.js';
import { Lull } from './lull.js';
import {
  buildIndex,
  cancelBackend,
  dropIndex,
  historyIndexes,
  type PartitionRow,
  selectBackend,
  selectIndexedDays,
} from './history-indexes.sql.js';

const hourMs = 3_600_000;

/** Interval, in milliseconds, at which a waiting index build checks whether servers keep up with their jobs. */
const waitMs = 1_000;

/**
 * SQLSTATEs of errors that are not reported: the day was dropped, another server was faster or held a lock, or the
 * store is being closed. A later run tries again if necessary.
 */
const passing = /^(42P01|42P07|40P01|55P03|57014)$/;

/**
 * Creates the search indexes of days that have ended. No rows are added to these days any more, so completing a job
 * never has to update the indexes. Each index is built once, while jobs can still be read, retried and deleted
 * (docs/adr/008). Building an index keeps a processor busy, so a build waits until servers keep up with their jobs.
 * Also creates missing failure indexes of days with failed jobs.
 */
export class HistoryIndexes {
  readonly #database: Database;
  readonly #builders: Database;
  readonly #lull: Lull;
  #building: Promise<void> | undefined;
  #backend: number | undefined;
  #nextAtMs = -Infinity;
  /** Whether indexes are missing; their build waits for a lull or is running. */
  #isWanted = false;
  #closed = false;

  /** @param builders a separate connection for builds, because a build can keep the connection busy for minutes */
  constructor(database: Database, builders: Database, lull = new Lull(database)) {
    this.#lull = lull;
    this.#database = database;
    this.#builders = builders;
  }

  /**
   * Looks for a missing index and starts to build it, unless this process is already building one. Returns immediately.
   * If no index is missing, the next search for one is an hour later.
   */
  begin(): void {
    if (this.#closed || this.#building !== undefined || performance.now() < this.#nextAtMs) return;
    this.#nextAtMs = performance.now() + hourMs;
    this.#building = this.#buildInTime()
      .catch(() => undefined) // retried in an hour
      .finally(() => {
        this.#building = undefined;
      });
  }

  /** Whether indexes are missing, so that builds are running or waiting for servers to catch up with their jobs. */
  get isPending(): boolean {
    return this.#isWanted;
  }

  /** Cancels the running build, if any, and closes the connection for builds. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#backend !== undefined) await this.#database.query(cancelBackend, [this.#backend]);
    await this.#building;
    await this.#builders.close();
  }

  /**
   * Builds the first missing index that can be built now. Resolves to its name, or to `null` if none was built, either
   * because none is missing or because each build failed for a temporary reason.
   */
  async buildNext(): Promise<string | null> {
    for (const { name, steps } of await this.#missing()) if (await this.#run(steps)) return name;
    return null;
  }

  async #buildInTime(): Promise<void> {
    if (!this.#isWanted && (await this.#missing()).length === 0) return;
    this.#isWanted = true;
    if (!(await this.#lull.canStart())) {
      this.#nextAtMs = performance.now() + waitMs;
      return;
    }
    this.#isWanted = (await this.buildNext()) !== null;
    if (this.#isWanted) this.#nextAtMs = performance.now();
    else this.#lull.end();
  }

  /** Returns the first missing index of each day, with the statements that build it. */
  async #missing(): Promise<{ name: string; steps: string[] }[]> {
    const days = await this.#database.query<PartitionRow>(selectIndexedDays);
    return days.flatMap(({ valid, invalid, ...day }) => {
      const missing = historyIndexes(day).find((index) => !valid.includes(index.name));
      if (missing === undefined) return [];
      const { name } = missing;
      // Drops an index whose build was interrupted before building it again.
      return [{ name, steps: [...(invalid.includes(name) ? [dropIndex(name)] : []), buildIndex(missing)] }];
    });
  }

  /**
   * Runs each statement outside a transaction, because Postgres cannot build or drop indexes concurrently within one.
   * Resolves to `false` if a step failed for a temporary reason.
   */
  async #run(steps: readonly string[]): Promise<boolean> {
    try {
      await this.#builders.session(async (client) => {
        const { rows } = await client.query<{ pid: number }>(selectBackend.text);
        this.#backend = rows[0]?.pid;
        for (const step of steps) if (!this.#closed) await client.query(step);
      });
      return true;
    } catch (error) {
      const cause: unknown = error instanceof Error ? error.cause : undefined;
      if (passing.test(codeOf(cause ?? error))) return false;
      throw error;
    } finally {
      this.#backend = undefined;
    }
  }
}
