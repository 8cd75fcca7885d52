import { codeOf, type Database } from './database.js';
import {
  buildIndex,
  cancelBackend,
  dropIndex,
  historyIndexes,
  type PartitionRow,
  selectBackend,
  selectIndexedDays,
} from './sql/history-indexes.js';

const hourMs = 3_600_000;

/** The day was dropped, or somebody else was faster, or was in the way, or the storage closes: the next look tells. */
const passing = /^(42P01|42P07|40P01|55P03|57014)$/;

/**
 * Gives days of history that have ended the indexes by which they are searched. Nothing is written there any more, so a job
 * that ends pays for none of them; each is built once, while jobs can be read, retried and deleted (docs/adr/008). Large days of
 * failed jobs that are older than the indexes of failures get those, too.
 */
export class HistoryIndexes {
  readonly #database: Database;
  readonly #builders: Database;
  #building: Promise<void> | undefined;
  #backend: number | undefined;
  #lookAt = -Infinity;
  #closed = false;

  /** @param builders a connection apart: it is busy for minutes where days are large */
  constructor(database: Database, builders: Database) {
    this.#database = database;
    this.#builders = builders;
  }

  /** Begins to build an index if one is missing and none is being built here. Resolves at once. */
  begin(): void {
    if (this.#closed || this.#building !== undefined || performance.now() < this.#lookAt) return;
    this.#lookAt = performance.now() + hourMs;
    this.#building = this.buildNext()
      .then(
        (built) => {
          if (built !== null) this.#lookAt = performance.now();
        },
        () => undefined, // it is tried again in an hour
      )
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
    const days = await this.#database.query<PartitionRow>(selectIndexedDays);
    for (const { valid, invalid, ...day } of days) {
      const missing = historyIndexes(day).find((index) => !valid.includes(index.name));
      if (missing === undefined) continue;
      const steps = [buildIndex(missing)];
      if (invalid.includes(missing.name)) steps.unshift(dropIndex(missing.name)); // its building was interrupted
      if (await this.#run(steps)) return missing.name;
    }
    return null;
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
