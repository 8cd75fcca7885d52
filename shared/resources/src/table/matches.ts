import { allOf, likePattern, type Parameters } from './conditions.js';

/**
 * Maximum number of matches to rank by similarity, unless the page needs more. Ranking a million matches takes ten
 * seconds.
 */
const maxRanked = 5_000;

export interface SearchedRows {
  /** The FROM clause without the word FROM; the alias of the table is `t`. */
  readonly from: string;
  /** Conditions that rows must meet in addition to the search. */
  readonly conditions: readonly string[];
  /** SQL expression for the text in which to search. */
  readonly text: string;
  readonly search: string;
  /** How many matches the page needs. The search does not stop before it has found them. */
  readonly atLeast: number;
}

/** SQL that finds matches of a search, in no particular order, up to a limit. */
export interface Matches {
  /** CTEs, for a WITH clause, that define `matches` with the columns of the table. */
  readonly clauses: string;
  /** ORDER BY expressions that put the best match first. */
  readonly order: string;
  /** The number of matches at which the search stops. */
  readonly limit: number;
}

/**
 * Returns SQL that finds the rows that contain the text. If there are fewer than the limit, the SQL also finds similar
 * rows.
 */
export function findMatches(
  { from, conditions, text, search, atLeast }: SearchedRows,
  parameters: Parameters,
): Matches {
  const like = parameters.add(likePattern(search));
  const similar = parameters.add(search);
  const limit = Math.max(maxRanked, atLeast);
  const max = `${parameters.add(limit)}::bigint`;
  const rows = (condition: string, count: string): string =>
    `select t.* from ${from} where ${allOf([...conditions, condition])} limit ${count}`;
  return {
    clauses: `
      containing as materialized (${rows(`${text} ilike ${like}`, max)}),
      alike as materialized (${rows(
        `${text} not ilike ${like} and ${text} %> ${similar}`,
        `${max} - (select count(*) from containing)`,
      )}),
      matches as materialized (select * from containing union all select * from alike)`,
    order: `${text} ilike ${like} desc, word_similarity(${similar}, ${text}) desc`,
    limit,
  };
}
