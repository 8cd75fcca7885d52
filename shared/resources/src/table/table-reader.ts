import type { Database, Queryable } from '../database/database.js';
import { inTransaction } from '../database/transaction.js';
import type { CallContext } from '../definition/call-context.js';
import type { Platform } from '../definition/platform.js';
import type { Resource } from '../definition/resource.js';
import type { CollectionQuery, Selection } from '../query/collection-query.js';
import type { Page } from '../query/page.js';
import { mostPageBytes } from '../query/page-bytes.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { columnOf, type Columns, itemFromRow, quotedTable } from './columns.js';
import {
  allOf,
  orderBy,
  Parameters,
  searchExpression,
  seekCondition,
  selectionConditions,
} from './conditions.js';
import { countItems } from './count.js';
import { rankedMatches } from './ranked-matches.js';

/**
 * The minimum word similarity for `q`. A word of four letters with one wrong letter shares two of five trigrams: 0.4.
 */
const similarityThreshold = '0.35';

interface BoundedRow extends ItemRecord {
  /** How many there would be without the bound. */
  readonly rows_found: number;
}

/** The rows of a statement whose JSON together takes no more than a page may; the first one always. */
function firstBytes(select: string, parameters: Parameters): string {
  return `
    select * from (
      select found.*, row_number() over () as row_place, (count(*) over ())::integer as rows_found,
        sum(octet_length(to_jsonb(found)::text)) over (rows unbounded preceding) as row_bytes
      from (${select}) as found
    ) as page
    where row_place = 1 or row_bytes <= ${parameters.add(mostPageBytes)}`;
}

/** Reads pages and single rows of a table. */
export class TableReader {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #resource: Resource;
  readonly #columns: Columns;
  readonly #selectList: string;
  readonly #searchText: string;
  readonly from: string;

  constructor(
    { database, reads = database }: Pick<Platform, 'database' | 'reads'>,
    resource: Resource,
    table: string,
    columns: Columns,
  ) {
    this.#database = database;
    this.#reads = reads;
    this.#resource = resource;
    this.#columns = columns;
    this.#selectList = [...columns.values()].map(({ read }) => read).join(', ');
    this.#searchText = searchExpression(columns, resource.search);
    this.from = `${quotedTable(table)} t`;
  }

  /** Reads one page, with its count according to `Prefer: count=`. */
  list(query: CollectionQuery): Promise<Page<ItemRecord>> {
    return this.searching(query, (connection) => this.#page(connection, query), this.#reads);
  }

  /** Runs work on a pool or, for a search, in a transaction with the similarity threshold set. */
  searching<Result>(
    selection: Selection,
    work: (connection: Queryable) => Promise<Result>,
    database = this.#database,
  ): Promise<Result> {
    if (selection.search === undefined) return work(database);
    return inTransaction(database, async (transaction) => {
      await transaction.query("select set_config('pg_trgm.word_similarity_threshold', $1, true)", [
        similarityThreshold,
      ]);
      return work(transaction);
    });
  }

  async get(
    connection: Queryable,
    id: string,
    parentFields: CallContext['parentFields'],
    lock: '' | 'for update',
  ): Promise<ItemRecord | undefined> {
    const parameters = new Parameters();
    const key = columnOf(this.#columns, this.#resource.key);
    const conditions = [`${key.sql} = ${parameters.add(id)}`, ...this.#matching(parentFields, parameters)];
    const [item] = await this.select(connection, conditions, parameters, lock);
    return item;
  }

  /** Selects rows as items. */
  async select(
    connection: Queryable,
    conditions: readonly string[],
    parameters: Parameters,
    rest: string,
  ): Promise<readonly ItemRecord[]> {
    const sql = `select ${this.#selectList} from ${this.from} where ${allOf(conditions)} ${rest}`;
    const { rows } = await connection.query(sql, parameters.values);
    return rows.map((row) => itemFromRow(this.#columns, row));
  }

  conditions(selection: Selection, parameters: Parameters): readonly string[] {
    return selectionConditions(this.#columns, this.#searchText, selection, parameters);
  }

  async #page(connection: Queryable, query: CollectionQuery): Promise<Page<ItemRecord>> {
    const { limit, offset, seek } = query;
    if (query.byRelevance && query.search !== undefined)
      return this.#bestPage(connection, query, query.search);
    const parameters = new Parameters();
    const conditions = [...this.conditions(query, parameters)];
    if (seek !== undefined && seek.values.length > 0)
      conditions.push(seekCondition(this.#columns, query.sort, seek, parameters));
    const reversed = seek?.direction === 'before';
    const order = orderBy(this.#columns, query.sort, reversed);
    // One more row than the page needs, to know whether there are more.
    const rest = `order by ${order} limit ${parameters.add(limit + 1)} offset ${parameters.add(offset)}`;
    const select = `select ${this.#listOf(query)} from ${this.from} where ${allOf(conditions)} ${rest}`;
    const found = await this.#bounded(connection, select, parameters, limit);
    const page = { ...found, items: reversed ? found.items.toReversed() : found.items };
    return { ...page, ...(await this.#count(connection, query, page)) };
  }

  /** Reads a page of search results, best match first. */
  async #bestPage(connection: Queryable, query: CollectionQuery, search: string): Promise<Page<ItemRecord>> {
    const { limit, offset } = query;
    const parameters = new Parameters();
    const matches = rankedMatches(
      {
        from: this.from,
        conditions: this.conditions({ filters: query.filters, search: undefined }, parameters),
        text: this.#searchText,
        search,
        atLeast: offset + limit + 1,
      },
      parameters,
    );
    const order = `${matches.order}, ${orderBy(this.#columns, query.sort, false)}`;
    const rest = `order by ${order} limit ${parameters.add(limit + 1)} offset ${parameters.add(offset)}`;
    const select = `select ${this.#listOf(query)} from ${matches.from} ${rest}`;
    const page = await this.#bounded(connection, select, parameters, limit);
    return { ...page, ...(await this.#count(connection, query, page)) };
  }

  /** The first `limit` rows of a statement, as many as fit on a page. */
  async #bounded(
    connection: Queryable,
    select: string,
    parameters: Parameters,
    limit: number,
  ): Promise<{ items: readonly ItemRecord[]; more: boolean; cut: boolean }> {
    if (limit === 0) return { items: [], more: false, cut: false };
    const { rows } = await connection.query<BoundedRow>(firstBytes(select, parameters), parameters.values);
    const items = rows.slice(0, limit).map((row) => itemFromRow(this.#columns, row));
    const found = rows[0]?.rows_found ?? 0;
    return { items, more: found > items.length, cut: items.length < Math.min(found, limit) };
  }

  /** Returns the columns that a page needs: the selected fields, and the sort fields for cursors. */
  #listOf({ fields, sort }: CollectionQuery): string {
    if (fields === undefined) return this.#selectList;
    const needed = new Set([...fields, ...sort.map(({ field }) => field)]);
    return [...needed].map((field) => columnOf(this.#columns, field).read).join(', ');
  }

  async #count(
    connection: Queryable,
    query: CollectionQuery,
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

  #matching(parentFields: CallContext['parentFields'], parameters: Parameters): readonly string[] {
    return Object.entries(parentFields).map(
      ([field, value]) => `${columnOf(this.#columns, field).sql} = ${parameters.add(value)}`,
    );
  }
}
