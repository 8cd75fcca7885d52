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
import { sortCollation } from '@longshore/edge';
import { prepared } from '../connection/statement.js';

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

const columns = `name, query, saved_by as "savedBy", saved_at as "savedAt"`;

export const selectSearches = prepared(
  'longshore-select-saved-searches',
  `select ${columns} from longshore.saved_search order by name collate ${sortCollation}`,
);

/** Serializes changes to saved searches, so that their number cannot exceed the maximum. */
export const lockSearches = prepared(
  'longshore-lock-saved-searches',
  `select pg_advisory_xact_lock(longshore.lock_key('saved_search'))::text`,
);

/** $1 name. */
export const selectSearch = prepared(
  'longshore-select-saved-search',
  `select ${columns} from longshore.saved_search where name = $1`,
);

/**
 * $1 name, $2 query, $3 who saves it, $4 maximum number of searches. Replaces a search of the same name. Stores nothing
 * and returns no row if $4 other searches exist.
 */
export const upsertSearch = prepared(
  'longshore-upsert-saved-search',
  `
    insert into longshore.saved_search (name, query, saved_by)
    select $1::text, $2::text, $3::text
    where (select count(*) from longshore.saved_search where name <> $1) < $4::integer
    on conflict (name) do update
      set query = excluded.query, saved_by = excluded.saved_by, saved_at = excluded.saved_at
    returning name`,
);

/** $1 name. */
export const deleteSearch = prepared(
  'longshore-delete-saved-search',
  `delete from longshore.saved_search where name = $1`,
);
