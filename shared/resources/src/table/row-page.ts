import type { Queryable } from '../database/database.js';
import { maxPageBytes } from '../query/page-bytes.js';
import type { ItemRecord } from '../validation/json-schema.js';
import type { Parameters } from './conditions.js';

/** The first rows that a statement found. */
export interface RowPage {
  readonly rows: readonly ItemRecord[];
  /** Whether the statement found more rows. */
  readonly more: boolean;
  /** Whether rows were left out to stay within the maximum size of a page. */
  readonly cut: boolean;
}

interface BoundedRow extends ItemRecord {
  /** The number of rows that the statement found before the size limit was applied. */
  readonly rows_found: number;
}

/**
 * Runs `select` and returns up to `limit` rows. Returns fewer if they would exceed the maximum size of a page; a single
 * row can be larger. `select` must ask for one row more than `limit`, to show whether there are more.
 */
export async function readRows(
  connection: Queryable,
  select: string,
  parameters: Parameters,
  limit: number,
): Promise<RowPage> {
  if (limit === 0) return { rows: [], more: false, cut: false };
  const { rows } = await connection.query<BoundedRow>(
    `select * from (
       select found.*, row_number() over () as row_place, (count(*) over ())::integer as rows_found,
         sum(octet_length(to_jsonb(found)::text)) over (rows unbounded preceding) as row_bytes
       from (${select}) as found
     ) as page
     where row_place = 1 or row_bytes <= ${parameters.add(maxPageBytes)}`,
    parameters.values,
  );
  const found = rows[0]?.rows_found ?? 0;
  const shown = rows.slice(0, limit);
  return { rows: shown, more: found > shown.length, cut: shown.length < Math.min(found, limit) };
}
