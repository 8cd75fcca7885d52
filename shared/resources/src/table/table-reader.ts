import type { CollectionQuery, Selection } from '../query/collection-query.js';
import type { ItemRecord, Resource } from '../resource/resource.js';
import type { CallContext, Page } from '../resource/storage.js';
import { columnOf, type Columns, itemFromRow, quotedTable } from './columns.js';
import {
  allOf,
  containing,
  orderBy,
  Parameters,
  searchExpression,
  seekCondition,
  selectionConditions,
} from './conditions.js';
import { countItems } from './count.js';
import type { Database, Queryable } from './database.js';
import { inTransaction } from './transaction.js';

/**
 * From which word similarity on `q` matches. The smallest word in which one wrong letter leaves two of five trigrams
 * has four letters: 0.4.
 */
const similarityThreshold = '0.35';

/** The SELECT side of a table: pages and single rows. */
export class TableReader {
  readonly #database: Database;
  readonly #resource: Resource;
  readonly #columns: Columns;
  readonly #selectList: string;
  readonly #searchText: string;
  readonly from: string;

  constructor(database: Database, resource: Resource, table: string, columns: Columns) {
    this.#database = database;
    this.#resource = resource;
    this.#columns = columns;
    this.#selectList = [...columns.values()].map(({ read }) => read).join(', ');
    this.#searchText = searchExpression(columns, resource.search);
    this.from = `${quotedTable(table)} t`;
  }

  /** One page, with its count as `Prefer: count=` asks. */
  list(query: CollectionQuery): Promise<Page<ItemRecord>> {
    return this.searching(query, (connection) => this.#page(connection, query));
  }

  /** Runs work on the pool, or, if there is a search, in a transaction that has the similarity threshold set. */
  searching<Result>(selection: Selection, work: (connection: Queryable) => Promise<Result>): Promise<Result> {
    if (selection.search === undefined) return work(this.#database);
    return inTransaction(this.#database, async (transaction) => {
      await transaction.query("select set_config('pg_trgm.word_similarity_threshold', $1, true)", [
        similarityThreshold,
      ]);
      return work(transaction);
    });
  }

  async get(
    connection: Queryable,
    id: string,
    scope: CallContext['scope'],
    lock: '' | 'for update',
  ): Promise<ItemRecord | undefined> {
    const parameters = new Parameters();
    const key = columnOf(this.#columns, this.#resource.key);
    const conditions = [`${key.sql} = ${parameters.add(id)}`, ...this.#within(scope, parameters)];
    const [item] = await this.select(connection, conditions, parameters, lock);
    return item;
  }

  /** The rows under conditions, as items. */
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
    const parameters = new Parameters();
    const conditions = [...this.conditions(query, parameters)];
    if (seek !== undefined) conditions.push(seekCondition(this.#columns, query.sort, seek, parameters));
    const reversed = seek?.direction === 'before';
    const order = this.#order(query, reversed, parameters);
    // One row beyond the page tells whether there is more.
    const rest = `order by ${order} limit ${parameters.add(limit + 1)} offset ${parameters.add(offset)}`;
    const found = limit === 0 ? [] : await this.select(connection, conditions, parameters, rest);
    const items = found.slice(0, limit);
    const page = { items: reversed ? items.toReversed() : items, more: found.length > limit };
    return { ...page, ...(await this.#count(connection, query, page)) };
  }

  #order(query: CollectionQuery, reversed: boolean, parameters: Parameters): string {
    const order = orderBy(this.#columns, query.sort, reversed);
    if (!query.byRelevance || query.search === undefined) return order;
    const like = parameters.add(containing(query.search));
    const text = parameters.add(query.search);
    return `${this.#searchText} ilike ${like} desc, word_similarity(${text}, ${this.#searchText}) desc, ${order}`;
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

  #within(scope: CallContext['scope'], parameters: Parameters): readonly string[] {
    return Object.entries(scope).map(
      ([field, value]) => `${columnOf(this.#columns, field).sql} = ${parameters.add(value)}`,
    );
  }
}
