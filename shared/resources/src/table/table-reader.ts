import { mapInSlices } from '@longshore/edge';
import { type Database, type Queryable, untilAborted } from '../database/database.js';
import type { CallContext, Platform } from '../definition/context.js';
import type { Resource } from '../definition/resource.js';
import { apiError } from '../errors/api-error.js';
import type { CollectionQuery } from '../query/collection-query.js';
import { maxPageBytes, type Page } from '../query/page.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { columnOf, type Columns, itemFromRow, quotedTable } from './columns.js';
import {
  allOf,
  orderBy,
  Parameters,
  type SearchedSelection,
  searchExpression,
  seekCondition,
  selectionConditions,
} from './conditions.js';

/** Maximum total size of the items of a bulk change, in bytes of JSON. */
const maxBulkBytes = 16 * 1024 * 1024;

/** Reads pages, single rows and sets of rows of a table. */
export class TableReader {
  readonly #reads: Database;
  readonly #resource: Resource;
  readonly #columns: Columns;
  readonly #selectList: string;
  /** The expression that `q` searches. */
  readonly searchText: string;
  readonly from: string;

  constructor(
    { database, reads = database }: Pick<Platform, 'database' | 'reads'>,
    resource: Resource,
    table: string,
    columns: Columns,
  ) {
    this.#reads = reads;
    this.#resource = resource;
    this.#columns = columns;
    this.#selectList = [...columns.values()].map(({ read }) => read).join(', ');
    this.searchText = searchExpression(columns, resource.search);
    this.from = `${quotedTable(table)} t`;
  }

  /** Reads one page from the database for reads, by default the primary database, until the signal aborts. */
  list(query: CollectionQuery, signal: AbortSignal): Promise<Page<ItemRecord>> {
    return this.page(untilAborted(this.#reads, signal), query);
  }

  async get(
    connection: Queryable,
    id: string,
    parentFields: CallContext['parentFields'],
    lock: '' | 'for update',
  ): Promise<ItemRecord | undefined> {
    const parameters = new Parameters();
    const [item] = await this.select(
      connection,
      this.identity(id, parentFields, parameters),
      parameters,
      lock,
    );
    return item;
  }

  /** Returns the conditions that identify an item by key and parent. A key may be unique only below a parent. */
  identity(
    id: string,
    parentFields: CallContext['parentFields'],
    parameters: Parameters,
  ): readonly [string, ...string[]] {
    const key = columnOf(this.#columns, this.#resource.key);
    return [`${key.sql} = ${parameters.add(id)}`, ...this.below(parentFields, parameters)];
  }

  /** Reads items by key, in the order of `ids`. Skips ids without an item. */
  async getAll(
    connection: Queryable,
    ids: readonly string[],
    parentFields: CallContext['parentFields'],
  ): Promise<readonly ItemRecord[]> {
    const parameters = new Parameters();
    const key = columnOf(this.#columns, this.#resource.key);
    const conditions = [`${key.sql} = any(${parameters.add(ids)})`, ...this.below(parentFields, parameters)];
    const items = await this.select(connection, conditions, parameters, '');
    const byId = new Map(items.map((item) => [String(item[this.#resource.key]), item]));
    return ids.map((id) => byId.get(id)).filter((item) => item !== undefined);
  }

  /**
   * Reads the rows that meet the conditions, as items.
   *
   * @param clauses SQL to append to the statement, such as a lock or a limit
   */
  async select(
    connection: Queryable,
    conditions: readonly string[],
    parameters: Parameters,
    clauses: string,
  ): Promise<readonly ItemRecord[]> {
    const sql = `select ${this.#selectList} from ${this.from} where ${allOf(conditions)} ${clauses}`;
    const { rows } = await connection.query(sql, parameters.values);
    return mapInSlices(rows, (row) => itemFromRow(this.#columns, row));
  }

  /**
   * Locks and returns the items with these keys. Locks in key order, so that two bulk changes cannot deadlock.
   * @throws {ApiError} 41301 if the items are too large to be changed together
   */
  async lock(
    connection: Queryable,
    keys: readonly string[],
    parentFields: CallContext['parentFields'],
  ): Promise<readonly ItemRecord[]> {
    const parameters = new Parameters();
    const key = columnOf(this.#columns, this.#resource.key).sql;
    const conditions = [`${key} = any(${parameters.add(keys)})`, ...this.below(parentFields, parameters)];
    const { rows } = await connection.query(
      `select sum(octet_length(to_jsonb(locked)::text))::float8 as bytes
       from (select * from ${this.from} where ${allOf(conditions)} order by ${key} for update) as locked`,
      parameters.values,
    );
    const bytes = Number(rows[0]?.['bytes'] ?? 0);
    if (bytes > maxBulkBytes)
      throw apiError(
        41301,
        `The items take ${bytes} bytes together, and at most ${maxBulkBytes} can be changed at once: send fewer items`,
      );
    return this.select(connection, conditions, parameters, '');
  }

  conditions(selection: SearchedSelection, parameters: Parameters): readonly string[] {
    return selectionConditions(this.#columns, this.searchText, selection, parameters);
  }

  /** Reads a page in the order of `sort`. `query.count` determines whether and how the matching rows are counted. */
  async page(
    connection: Queryable,
    query: CollectionQuery & Pick<SearchedSelection, 'words'>,
  ): Promise<Page<ItemRecord>> {
    const parameters = new Parameters();
    const where = [...this.conditions(query, parameters), ...this.seek(query, parameters)];
    const select = `select ${this.listOf(query)} from ${this.from} where ${allOf(where)}
      ${this.order(query)} ${sliceOf(query, parameters)}`;
    const page = this.inOrder(query, await readRows(connection, select, parameters, query.limit));
    return { ...page, ...(await this.#count(connection, query, page)) };
  }

  /**
   * Returns the condition for rows beyond the cursor. Returns no condition if there is no cursor, or the cursor is the
   * end of the collection.
   */
  seek({ sort, seek }: CollectionQuery, parameters: Parameters): readonly string[] {
    return seek === undefined || seek.values.length === 0
      ? []
      : [seekCondition(this.#columns, sort, seek, parameters)];
  }

  /** Returns the ORDER BY clause of a page. Pages before a cursor are read backwards. */
  order({ sort, seek }: Pick<CollectionQuery, 'sort' | 'seek'>): string {
    return `order by ${orderBy(this.#columns, sort, seek?.direction === 'before')}`;
  }

  /** Converts the rows of a page to items in the order of `sort`. Reverses a page that was read backwards. */
  inOrder(
    { seek }: CollectionQuery,
    { rows, more, cut }: RowPage,
  ): { readonly items: readonly ItemRecord[]; readonly more: boolean; readonly cut: boolean } {
    const items = rows.map((row) => itemFromRow(this.#columns, row));
    return { items: seek?.direction === 'before' ? items.toReversed() : items, more, cut };
  }

  /** Returns the columns that a page needs: the selected fields, and the sort fields for the cursors. */
  listOf({ fields, sort }: CollectionQuery): string {
    if (fields === undefined) return this.#selectList;
    const needed = new Set([...fields, ...sort.map(({ field }) => field)]);
    return [...needed].map((field) => columnOf(this.#columns, field).read).join(', ');
  }

  async #count(
    connection: Queryable,
    query: CollectionQuery & Pick<SearchedSelection, 'words'>,
    { items, more }: { items: readonly ItemRecord[]; more: boolean },
  ): Promise<Pick<Page<ItemRecord>, 'total' | 'estimated'>> {
    if (query.count === 'none') return { total: undefined };
    const isLastPage = query.limit > 0 && !more && query.seek === undefined;
    if (isLastPage && (items.length > 0 || query.offset === 0)) return { total: query.offset + items.length };
    const parameters = new Parameters();
    const where = allOf(this.conditions(query, parameters));
    return countItems(connection, `${this.from} where ${where}`, parameters.values, {
      exact: query.count === 'exact',
      atLeast: query.offset + items.length,
    });
  }

  /** Returns the conditions that identify the parent of an item. */
  below(parentFields: CallContext['parentFields'], parameters: Parameters): readonly string[] {
    return Object.entries(parentFields).map(([field, value]) => {
      const { sql } = columnOf(this.#columns, field);
      return value === null ? `${sql} is null` : `${sql} = ${parameters.add(value)}`;
    });
  }
}

/** Returns LIMIT and OFFSET for a page. Reads one row more than the page has, to show whether there are more rows. */
export function sliceOf({ limit, offset }: CollectionQuery, parameters: Parameters): string {
  return `limit ${parameters.add(limit + 1)} offset ${parameters.add(offset)}`;
}

/** The first rows that a statement found. */
interface RowPage {
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
  const total = rows[0]?.rows_found ?? 0;
  const shown = rows.slice(0, limit);
  return { rows: shown, more: total > shown.length, cut: shown.length < Math.min(total, limit) };
}

/** Maximum number of rows to count, unless an exact count is requested. */
const maxExactCount = 10_000;

/**
 * Counts all rows if `exact` is set. Otherwise counts up to 10,000 rows, and estimates larger numbers from the query
 * plan.
 *
 * @param source the FROM and WHERE clauses, without the word FROM
 * @param options `atLeast`: the number of rows known to exist; an estimate is never lower
 */
export async function countItems(
  connection: Queryable,
  source: string,
  values: readonly unknown[],
  { exact, atLeast }: { readonly exact: boolean; readonly atLeast: number },
): Promise<{ total: number; estimated: boolean }> {
  const bound = exact ? '' : `limit ${maxExactCount + 1}`;
  const counted = await connection.query(
    `select count(*)::float8 as total from (select from ${source} ${bound}) counted`,
    [...values],
  );
  const total = Number(counted.rows[0]?.['total']);
  if (exact || total <= maxExactCount) return { total, estimated: false };
  const estimate = await estimateItems(connection, source, values);
  return { total: Math.max(estimate, atLeast, maxExactCount + 1), estimated: true };
}

/** Returns the number of rows that the planner expects. */
export async function estimateItems(
  connection: Queryable,
  source: string,
  values: readonly unknown[],
): Promise<number> {
  const { rows } = await connection.query(`explain (format json) select from ${source}`, [...values]);
  const plan = rows[0]?.['QUERY PLAN'] as readonly [{ readonly Plan: { readonly 'Plan Rows': number } }];
  return plan[0].Plan['Plan Rows'];
}
