import { sortCollation } from '@longshore/edge';
import { prepared } from '../connection/statement.js';

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
