import type { Database, Queryable } from '../database/database.js';
import { inTransaction } from '../database/transaction.js';
import { isSqlError } from '../errors/incident.js';
import type { CollectionQuery, SortTerm } from '../query/collection-query.js';
import type { Page } from '../query/page.js';
import { similarityThreshold } from '../query/similarity.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { allOf, Parameters } from './conditions.js';
import { countItems, estimateItems } from './count.js';
import { findMatches, type Matches } from './matches.js';
import { readRows } from './row-page.js';
import { sliceOf, type TableReader } from './table-reader.js';

/** Default time limit for each statement that searches, in milliseconds. */
const defaultTimeoutMs = 1_000;

/** Number of rows, in the default order, to search if searching the whole table takes too long. */
const firstRows = 10_000;

export type SearchQuery = CollectionQuery & { readonly search: string };

/** A page of matches, and the number of all matches. The number is undefined if the search stopped early. */
interface Found {
  readonly page: Page<ItemRecord>;
  readonly matches: number | undefined;
}

/** Returns the FROM clause, without the word FROM, and the conditions for the rows to search. */
type Source = (parameters: Parameters) => { readonly from: string; readonly conditions: readonly string[] };

/**
 * Reads pages of search results. A search stops after 5,000 matches, or later if the page needs more. If a statement
 * takes longer than the time limit, only the first 10,000 rows are searched. A page that may lack matches is marked
 * `partial`.
 */
export class TableSearch {
  readonly #reads: Database;
  readonly #reader: TableReader;
  readonly #defaultOrder: string;
  readonly #timeoutMs: number;

  /**
   * @param defaultSort determines which rows are searched if searching the whole table takes too long
   * @param timeoutMs time limit for each statement, in milliseconds
   */
  constructor(
    reads: Database,
    reader: TableReader,
    defaultSort: readonly SortTerm[],
    timeoutMs = defaultTimeoutMs,
  ) {
    this.#reads = reads;
    this.#reader = reader;
    this.#timeoutMs = timeoutMs;
    this.#defaultOrder = reader.order({ sort: defaultSort, seek: undefined });
  }

  async list(query: SearchQuery): Promise<Page<ItemRecord>> {
    const all = await this.#inTime((connection) => this.#amongAll(connection, query)).catch(unlessCancelled);
    if (all?.matches !== undefined)
      return withTotal(all.page, query, { total: all.matches, estimated: false });
    const page = all?.page ?? (await this.#inTime((connection) => this.#amongFirst(connection, query)));
    return query.count === 'none' ? page : { ...page, ...(await this.#count(query, page)) };
  }

  /**
   * Searches the whole table. If there are too many matches to sort, reads rows in the requested order until the page
   * is full. For an order by relevance, marks the page `partial` instead.
   */
  async #amongAll(connection: Queryable, query: SearchQuery): Promise<Found> {
    const found = await this.#matching(connection, query, (parameters) => this.#rows(query, parameters));
    if (found.matches !== undefined) return found;
    const page = query.byRelevance
      ? { ...found.page, partial: true }
      : await this.#reader.page(connection, { ...query, count: 'none' });
    return { page, matches: undefined };
  }

  async #amongFirst(connection: Queryable, query: SearchQuery): Promise<Page<ItemRecord>> {
    const { page } = await this.#matching(connection, query, (parameters) => {
      const { from, conditions } = this.#rows(query, parameters);
      const first = `select * from ${from} where ${allOf(conditions)} ${this.#defaultOrder} limit ${firstRows}`;
      return { from: `(${first}) t`, conditions: [] };
    });
    return { ...page, partial: true };
  }

  #rows({ filters }: SearchQuery, parameters: Parameters): ReturnType<Source> {
    const conditions = this.#reader.conditions({ filters, search: undefined }, parameters);
    return { from: this.#reader.from, conditions };
  }

  /** Reads a page of the matches among the rows of `source`. */
  async #matching(connection: Queryable, query: SearchQuery, source: Source): Promise<Found> {
    const parameters = new Parameters();
    const matches = this.#find(query, source, parameters);
    const order = this.#reader.order(query);
    const select = `with ${matches.clauses}
      select ${this.#reader.listOf(query)}, (select count(*)::integer from matches) as match_count
      from matches t where ${allOf(this.#reader.seek(query, parameters))}
      ${query.byRelevance ? order.replace('order by', `order by ${matches.order},`) : order}
      ${sliceOf(query, parameters)}`;
    const rows = await readRows(connection, select, parameters, query.limit);
    const [first] = rows.rows;
    const count =
      first === undefined ? await this.#countMatches(connection, query, source) : first['match_count'];
    const page = { ...this.#reader.inOrder(query, rows), total: undefined };
    return { page, matches: Number(count) < matches.limit ? Number(count) : undefined };
  }

  async #countMatches(connection: Queryable, query: SearchQuery, source: Source): Promise<unknown> {
    const parameters = new Parameters();
    const { clauses } = this.#find(query, source, parameters);
    const select = `with ${clauses} select count(*)::integer as match_count from matches`;
    const { rows } = await connection.query(select, parameters.values);
    return rows[0]?.['match_count'];
  }

  #find(query: SearchQuery, source: Source, parameters: Parameters): Matches {
    const { search, offset, limit } = query;
    const text = this.#reader.searchText;
    return findMatches({ ...source(parameters), text, search, atLeast: offset + limit + 1 }, parameters);
  }

  /**
   * Estimates the number of matches, or counts them if the request asks for an exact count. The one-second limit does
   * not apply.
   */
  async #count(
    query: SearchQuery,
    { items }: Page<ItemRecord>,
  ): Promise<{ total: number; estimated: boolean }> {
    const atLeast = query.offset + items.length;
    const parameters = new Parameters();
    const where = allOf(this.#reader.conditions(query, parameters));
    const source = `${this.#reader.from} where ${where}`;
    // Estimates also need the similarity threshold, because the planner takes it into account.
    return this.#reader.searching(
      query,
      async (connection) =>
        query.count === 'exact'
          ? countItems(connection, source, parameters.values, { exact: true, atLeast })
          : {
              total: Math.max(atLeast, await estimateItems(connection, source, parameters.values)),
              estimated: true,
            },
      this.#reads,
    );
  }

  /** Runs `work` in a transaction with the similarity threshold and a time limit per statement. */
  #inTime<Result>(work: (connection: Queryable) => Promise<Result>): Promise<Result> {
    return inTransaction(this.#reads, async (transaction) => {
      await transaction.query(
        `select set_config('pg_trgm.word_similarity_threshold', $1, true), set_config('statement_timeout', $2, true)`,
        [String(similarityThreshold), String(this.#timeoutMs)],
      );
      return work(transaction);
    });
  }
}

function withTotal(
  page: Page<ItemRecord>,
  { count }: SearchQuery,
  total: { readonly total: number; readonly estimated: boolean },
): Page<ItemRecord> {
  return count === 'none' ? { ...page, total: undefined } : { ...page, ...total };
}

/** Ignores the error of a cancelled statement (57014), such as one that took too long. Rethrows any other error. */
function unlessCancelled(error: unknown): undefined {
  if (!isSqlError(error) || error.code !== '57014') throw error;
}
