import { mapInSlices } from '@longshore/edge';
import type { Database, Queryable } from '../database/database.js';
import { untilAborted } from '../database/until-aborted.js';
import type { CallContext } from '../definition/call-context.js';
import type { Platform } from '../definition/platform.js';
import type { Resource } from '../definition/resource.js';
import { apiError } from '../errors/api-error.js';
import type { CollectionQuery } from '../query/collection-query.js';
import type { Page } from '../query/page.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { columnOf, type Columns, itemFromRow, quotedTable } from './columns.js';
import {
  allOf,
  orderBy,
  Parameters,
  searchExpression,
  seekCondition,
  type SearchedSelection,
  selectionConditions,
} from './conditions.js';
import { countItems } from './count.js';
import { type RowPage, readRows } from './row-page.js';

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
   * @param rest SQL to append to the statement, such as a lock or a limit
   */
  async select(
    connection: Queryable,
    conditions: readonly string[],
    parameters: Parameters,
    rest: string,
  ): Promise<readonly ItemRecord[]> {
    const sql = `select ${this.#selectList} from ${this.from} where ${allOf(conditions)} ${rest}`;
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
