import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
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

/** Interval at which a deferred build checks whether it can start, in milliseconds. */
const waitMs = 1_000;

/**
 * SQLSTATEs of temporary errors: undefined table, duplicate table, deadlock, lock timeout and query cancelled. They are
 * not reported, because a later run tries again.
 */
const passing = /^(42P01|42P07|40P01|55P03|57014)$/;

/**
 * Creates the search indexes of days that have ended (docs/adr/008), and missing indexes of failed jobs. No rows are
 * added to ended days, so completing a job does not update their search indexes. Building an index keeps a processor
 * busy, so builds are deferred while servers are behind with their jobs (see {@link Lull}).
 */
export class HistoryIndexes {
  readonly #database: Database;
  readonly #builders: Database;
  readonly #lull: Lull;
  #building: Promise<void> | undefined;
  #backend: number | undefined;
  #nextAtMs = -Infinity;
  #isWanted = false;
  #closed = false;

  /** @param builders connection for builds; separate, because a build can take minutes */
  constructor(database: Database, builders: Database, lull = new Lull(database)) {
    this.#lull = lull;
    this.#database = database;
    this.#builders = builders;
  }

  /**
   * Starts to build one missing index in the background, unless a build is running or the next check is not due yet.
   * The next check is due at once after a successful build, after {@link waitMs} if the build has to be deferred, and
   * otherwise in an hour.
   */
  begin(): void {
    if (this.#closed || this.#building !== undefined || performance.now() < this.#nextAtMs) return;
    this.#nextAtMs = performance.now() + hourMs;
    this.#building = this.#buildInTime()
      .catch(() => this.#endWork()) // retried in an hour
      .finally(() => {
        this.#building = undefined;
      });
  }

  /** Whether an index build is running or deferred. */
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
   * Builds one missing index and resolves to its name. Resolves to `null` if no index is missing or every build failed
   * with a temporary error.
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
    if ((await this.buildNext()) === null) this.#endWork();
    else this.#nextAtMs = performance.now();
  }

  #endWork(): void {
    this.#isWanted = false;
    this.#lull.end();
  }

  /** Returns one missing index per partition, with the statements that build it. */
  async #missing(): Promise<{ name: string; steps: string[] }[]> {
    const days = await this.#database.query<PartitionRow>(selectIndexedDays);
    return days.flatMap(({ valid, invalid, ...day }) => {
      const missing = historyIndexes(day).find((index) => !valid.includes(index.name));
      if (missing === undefined) return [];
      const { name } = missing;
      // An interrupted build leaves an invalid index. Drops that index before building it again.
      return [{ name, steps: [...(invalid.includes(name) ? [dropIndex(name)] : []), buildIndex(missing)] }];
    });
  }

  /**
   * Runs each statement outside a transaction, because Postgres cannot build indexes concurrently in a transaction.
   * Resolves to `false` after a temporary error.
   */
  async #run(steps: readonly string[]): Promise<boolean> {
    try {
      await this.#builders.session(async (client) => {
        const { rows } = await client.query<{ pid: number }>(selectBackend);
        this.#backend = rows[0]?.pid;
        for (const step of steps) if (!this.#closed) await client.query(step);
      });
      return true;
    } catch (error) {
      if (passing.test(sqlStateOf(error))) return false;
      throw error;
    } finally {
      this.#backend = undefined;
    }
  }
}
