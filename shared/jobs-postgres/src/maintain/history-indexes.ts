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

/** While there is something to build and servers are behind. */
const waitMs = 1_000;

/** The day was dropped, or somebody else was faster, or was in the way, or the storage closes: the next look tells. */
const passing = /^(42P01|42P07|40P01|55P03|57014)$/;

/**
 * Gives days of history that have ended the indexes by which they are searched. Nothing is written there any more, so a job
 * that ends pays for none of them; each is built once, while jobs can be read, retried and deleted (docs/adr/008), and when
 * servers keep up with their jobs, for it takes a processor. Large days of failed jobs that are older than the indexes of
 * failures get those, too.
 */
export class HistoryIndexes {
  readonly #database: Database;
  readonly #builders: Database;
  readonly #lull: Lull;
  #building: Promise<void> | undefined;
  #backend: number | undefined;
  #lookAt = -Infinity;
  /** Indexes are missing, and the build waits for a lull. */
  #isWanted = false;
  #closed = false;

  /**
   * @param builders a connection apart: it is busy for minutes where days are large
   * @param lull when to build
   */
  constructor(database: Database, builders: Database, lull = new Lull(database)) {
    this.#lull = lull;
    this.#database = database;
    this.#builders = builders;
  }

  /** Begins to build an index if one is missing and none is being built here. Resolves at once. */
  begin(): void {
    if (this.#closed || this.#building !== undefined || performance.now() < this.#lookAt) return;
    this.#lookAt = performance.now() + hourMs;
    this.#building = this.#buildInTime()
      .catch(() => undefined) // it is tried again in an hour
      .finally(() => {
        this.#building = undefined;
      });
  }

  /** Gives up what is being built. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#backend !== undefined) await this.#database.query(cancelBackend, [this.#backend]);
    await this.#building;
    await this.#builders.close();
  }

  /** Builds one index that is missing. Resolves to its name, or to `null` if there was nothing to do. */
  async buildNext(): Promise<string | null> {
    for (const { name, steps } of await this.#missing()) if (await this.#run(steps)) return name;
    return null;
  }

  async #buildInTime(): Promise<void> {
    if (!this.#isWanted && (await this.#missing()).length === 0) return;
    this.#isWanted = true;
    if (!(await this.#lull.hasCome())) {
      this.#lookAt = performance.now() + waitMs;
      return;
    }
    this.#isWanted = (await this.buildNext()) !== null;
    if (this.#isWanted) this.#lookAt = performance.now();
    else this.#lull.end();
  }

  /** The first of each day. */
  async #missing(): Promise<{ name: string; steps: string[] }[]> {
    const days = await this.#database.query<PartitionRow>(selectIndexedDays);
    return days.flatMap(({ valid, invalid, ...day }) => {
      const missing = historyIndexes(day).find((index) => !valid.includes(index.name));
      if (missing === undefined) return [];
      const { name } = missing;
      return [{ name, steps: [...(invalid.includes(name) ? [dropIndex(name)] : []), buildIndex(missing)] }]; // one whose building was interrupted goes first
    });
  }

  /** Each statement by itself: they cannot be run in transactions. */
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
