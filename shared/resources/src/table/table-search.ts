import { allowedTypos, type Spelling, spellingsInSlices, spellingsOf, wordsOf } from '@longshore/edge';
import { type Database, inTransaction, type Queryable, untilAborted } from '../database/database.js';
import { isSqlError } from '../errors/incident.js';
import type { CollectionQuery, SortTerm } from '../query/collection-query.js';
import type { Page } from '../query/page.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { allOf, occursIn, Parameters } from './conditions.js';
import { countItems, estimateItems, readRows, sliceOf, type TableReader } from './table-reader.js';

/** Default time limit for each statement that searches, in milliseconds. */
const defaultTimeoutMs = 1_000;

/** Number of rows, in the default order, to search if searching the whole table takes too long. */
const firstRows = 10_000;

/**
 * The words among which the correct spelling of a misspelt one is looked up: the most frequent ones of the first rows, and
 * all of rows that an index of trigrams finds to be similar.
 */
const vocabularyRows = 2_000;
const vocabularyWords = 2_000;
const similarRows = 200;

/**
 * The least similarity of trigrams, as in `pg_trgm`. Two swapped letters in a word of six leave a similarity of 0.29; a
 * lower value finds so many rows that the similar ones are not among the first.
 */
const similarityThreshold = 0.28;

export type SearchQuery = CollectionQuery & { readonly search: string };

type SpeltQuery = SearchQuery & { readonly words: readonly (readonly Spelling[])[] };

/** A page of matches, and the number of all matches. The number is undefined if the search stopped early. */
interface Found {
  readonly query: SpeltQuery;
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

  /** Reads a page, until the signal aborts. */
  async list(query: SearchQuery, signal: AbortSignal): Promise<Page<ItemRecord>> {
    const reads = untilAborted(this.#reads, signal);
    const inTime = <Result>(work: (connection: Queryable) => Promise<Result>): Promise<Result> =>
      this.#inTime(reads, work);
    const wholeTable = await inTime((connection) => this.#amongAll(connection, query)).catch(unlessCancelled);
    if (wholeTable?.matches !== undefined)
      return withTotal(wholeTable.page, query, { total: wholeTable.matches, estimated: false });
    const result = wholeTable ?? (await inTime((connection) => this.#amongFirst(connection, query)));
    const { page } = result;
    return query.count === 'none' ? page : { ...page, ...(await this.#count(reads, result.query, page)) };
  }

  /**
   * Searches the whole table. If there are too many matches to sort, reads rows in the requested order until the page
   * is full. For an order by relevance, marks the page `partial` instead.
   */
  async #amongAll(connection: Queryable, search: SearchQuery): Promise<Found> {
    const query = await this.#spelt(connection, search, true);
    const result = await this.#matching(connection, query, (parameters) => this.#rows(query, parameters));
    if (result.matches !== undefined) return result;
    const page = query.byRelevance
      ? { ...result.page, partial: true }
      : await this.#reader.page(connection, { ...query, count: 'none' });
    return { query, page, matches: undefined };
  }

  async #amongFirst(connection: Queryable, search: SearchQuery): Promise<Found> {
    const query = await this.#spelt(connection, search, false);
    const { page } = await this.#matching(connection, query, (parameters) => {
      const { from, conditions } = this.#rows(query, parameters);
      const first = `select * from ${from} where ${allOf(conditions)} ${this.#defaultOrder} limit ${firstRows}`;
      return { from: `(${first}) t`, conditions: [] };
    });
    return { query, page: { ...page, partial: true }, matches: undefined };
  }

  /**
   * Looks up the spellings of the words of a search.
   *
   * @param similar whether to look for similar words in all rows, with the index
   */
  async #spelt(connection: Queryable, query: SearchQuery, similar: boolean): Promise<SpeltQuery> {
    const words = wordsOf(query.search);
    const uncertain = words.filter((word) => allowedTypos(word) > 0);
    if (uncertain.length === 0) return { ...query, words: spellingsOf(words, []) };
    const parameters = new Parameters();
    const { from, conditions } = this.#rows(query, parameters);
    const text = this.#reader.searchText;
    const where = allOf(conditions);
    const first = `select ${text} as text from ${from} where ${where} ${this.#defaultOrder} limit ${vocabularyRows}`;
    const alike = (similar ? uncertain : []).map((word) => {
      const condition = allOf([...conditions, `${text} %> ${parameters.add(word)}`]);
      return `(select ${text} as text from ${from} where ${condition} limit ${similarRows})`;
    });
    const { rows } = await connection.query<{ text: string }>(
      `(select word as text
        from (${first}) as row cross join lateral regexp_split_to_table(row.text, '\\s+') as word
        group by word order by count(*) desc, word limit ${vocabularyWords})
      ${alike.map((part) => `union all ${part}`).join(' ')}`,
      parameters.values,
    );
    return {
      ...query,
      words: await spellingsInSlices(
        words,
        rows.map((row) => row.text),
      ),
    };
  }

  #rows({ filters }: SearchQuery, parameters: Parameters): ReturnType<Source> {
    const conditions = this.#reader.conditions({ filters, search: undefined }, parameters);
    return { from: this.#reader.from, conditions };
  }

  /** Reads a page of the matches among the rows of `source`. */
  async #matching(connection: Queryable, query: SpeltQuery, source: Source): Promise<Found> {
    const parameters = new Parameters();
    const matches = this.#find(query, source, parameters);
    const order = this.#reader.order(query);
    const select = `with ${matches.clauses}
      select ${this.#reader.listOf(query)}, (select count(*)::integer from matches) as match_count
      from matches t where ${allOf(this.#reader.seek(query, parameters))}
      ${query.byRelevance ? order.replace('order by', `order by ${matches.order()},`) : order}
      ${sliceOf(query, parameters)}`;
    const rows = await readRows(connection, select, parameters, query.limit);
    const [first] = rows.rows;
    const count =
      first === undefined ? await this.#countMatches(connection, query, source) : first['match_count'];
    const page = { ...this.#reader.inOrder(query, rows), total: undefined };
    return { query, page, matches: Number(count) < matches.limit ? Number(count) : undefined };
  }

  async #countMatches(connection: Queryable, query: SpeltQuery, source: Source): Promise<unknown> {
    const parameters = new Parameters();
    const { clauses } = this.#find(query, source, parameters);
    const select = `with ${clauses} select count(*)::integer as match_count from matches`;
    const { rows } = await connection.query(select, parameters.values);
    return rows[0]?.['match_count'];
  }

  #find(query: SpeltQuery, source: Source, parameters: Parameters): Matches {
    const { words, offset, limit } = query;
    const text = this.#reader.searchText;
    return findMatches({ ...source(parameters), text, words, atLeast: offset + limit + 1 }, parameters);
  }

  /**
   * Estimates the number of matches, or counts them if the request asks for an exact count. The one-second limit does
   * not apply.
   */
  async #count(
    reads: Database,
    query: SpeltQuery,
    { items }: Page<ItemRecord>,
  ): Promise<{ total: number; estimated: boolean }> {
    const atLeast = query.offset + items.length;
    const parameters = new Parameters();
    const where = allOf(this.#reader.conditions(query, parameters));
    const source = `${this.#reader.from} where ${where}`;
    return query.count === 'exact'
      ? countItems(reads, source, parameters.values, { exact: true, atLeast })
      : {
          total: Math.max(atLeast, await estimateItems(reads, source, parameters.values)),
          estimated: true,
        };
  }

  /** Runs `work` in a transaction with the similarity threshold and a time limit per statement. */
  #inTime<Result>(reads: Database, work: (connection: Queryable) => Promise<Result>): Promise<Result> {
    return inTransaction(reads, async (transaction) => {
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

/** Maximum number of matches to rank, unless the page needs more. Ranking a million matches takes ten seconds. */
const maxRanked = 5_000;

interface SearchedRows {
  /** The FROM clause without the word FROM; the alias of the table is `t`. */
  readonly from: string;
  /** Conditions that rows must meet in addition to the search. */
  readonly conditions: readonly string[];
  /** SQL expression for the text in which to search. */
  readonly text: string;
  /** The spellings of each word, fewest typos first; the first is the word itself. */
  readonly words: readonly (readonly Spelling[])[];
  /** How many matches the page needs. The search does not stop before it has found them. */
  readonly atLeast: number;
}

/** SQL that finds matches of a search, in no particular order, up to a limit. */
interface Matches {
  /** CTEs, for a WITH clause, that define `matches` with the columns of the table. */
  readonly clauses: string;
  /** Returns an ORDER BY expression that puts the best match first: the number of typos. Adds parameters. */
  readonly order: () => string;
  /** The number of matches at which the search stops. */
  readonly limit: number;
}

/**
 * Returns SQL that finds the rows that contain every word. If there are fewer than the limit, the SQL also finds rows that
 * contain words with typos.
 */
function findMatches(
  { from, conditions, text, words, atLeast }: SearchedRows,
  parameters: Parameters,
): Matches {
  const limit = Math.max(maxRanked, atLeast);
  const max = `${parameters.add(limit)}::bigint`;
  const rows = (searched: readonly string[], count: string): string =>
    `select t.* from ${from} where ${allOf([...conditions, ...searched])} limit ${count}`;
  const exact = words.map((spellings) => occursIn(text, spellings.slice(0, 1), parameters));
  const containing = `containing as materialized (${rows(exact, max)})`;
  if (words.every((spellings) => spellings.length === 1))
    return {
      clauses: `${containing}, matches as (select * from containing)`,
      order: () => '0::integer',
      limit,
    };
  const some = words.map((spellings) => occursIn(text, spellings, parameters));
  const remaining = `${max} - (select count(*) from containing)`;
  return {
    clauses: `
      ${containing},
      alike as materialized (${rows([...some, `not (${allOf(exact)})`], remaining)}),
      matches as materialized (select * from containing union all select * from alike)`,
    order: () => words.map((spellings) => typosOf(text, spellings, parameters)).join(' + '),
    limit,
  };
}

/** Returns an SQL expression for the number of typos in the best spelling of a word that a text contains. */
function typosOf(text: string, spellings: readonly Spelling[], parameters: Parameters): string {
  const numbers = [...new Set(spellings.map(({ typos }) => typos))];
  const cases = numbers.map((typos) => {
    const withTypos = spellings.filter((spelling) => spelling.typos === typos);
    return `when ${occursIn(text, withTypos, parameters)} then ${typos}`;
  });
  return `case ${cases.join(' ')} end`;
}
