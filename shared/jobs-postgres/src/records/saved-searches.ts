import {
  type ActionOptions,
  checkSavedSearch,
  maxSavedSearches,
  type NewSavedSearch,
  type SavedSearch,
  type SavedSearches,
  type SaveSearchResult,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { Run } from '../connection/run.js';
import { inTransaction } from './audit.js';
import {
  deleteSearch,
  lockSearches,
  selectSearch,
  selectSearches,
  upsertSearch,
} from './saved-searches.sql.js';

/** Lists, saves and deletes operators' searches. */
export class PostgresSavedSearches implements SavedSearches {
  readonly #database: Database;
  readonly #reads: Database;

  constructor({ database, reads }: { database: Database; reads: Database }) {
    this.#database = database;
    this.#reads = reads;
  }

  list(): Promise<SavedSearch[]> {
    return this.#reads.query<SavedSearch & Record<string, unknown>>(selectSearches);
  }

  async save(
    { name, query, savedBy }: NewSavedSearch,
    options: ActionOptions<SaveSearchResult> = {},
  ): Promise<SaveSearchResult> {
    checkSavedSearch({ name, query, savedBy });
    return inTransaction(this.#database, options, async (run, record) => {
      const before = await findLocked(run, name);
      const saved = await run(upsertSearch, [name, query, savedBy, maxSavedSearches]);
      const result: SaveSearchResult =
        saved.length === 0 ? { outcome: 'full' } : { outcome: 'saved', before };
      await record(result);
      return result;
    });
  }

  async delete(name: string, options: ActionOptions<SavedSearch | null> = {}): Promise<SavedSearch | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      const before = await findLocked(run, name);
      await run(deleteSearch, [name]);
      await record(before);
      return before;
    });
  }
}

async function findLocked(run: Run, name: string): Promise<SavedSearch | null> {
  await run(lockSearches, []);
  const [search = null] = (await run(selectSearch, [name])) as readonly SavedSearch[];
  return search;
}
