import { allOf, likePattern, type Parameters } from './conditions.js';

/** At most this many matches are ranked; comparing a million texts takes ten seconds. */
const maxRanked = 5_000;

export interface RankedSearch {
  /** The FROM clause without FROM; the alias of the table is `t`. */
  readonly from: string;
  /** Conditions in addition to the search. */
  readonly conditions: readonly string[];
  /** The expression to search. */
  readonly text: string;
  readonly search: string;
  /** The minimum number of matches to rank, so that every page can be reached. */
  readonly atLeast: number;
}

/**
 * Returns a FROM clause for the matches to rank, and the order that puts the best first. Rows that contain the text come before
 * rows that are only similar to it; if there are enough of them, similar rows are not searched for.
 */
export function rankedMatches(
  { from, conditions, text, search, atLeast }: RankedSearch,
  parameters: Parameters,
): { readonly from: string; readonly order: string } {
  const like = parameters.add(likePattern(search));
  const similar = parameters.add(search);
  const most = parameters.add(Math.max(maxRanked, atLeast));
  const rows = (condition: string, limit: string): string =>
    `select t.* from ${from} where ${allOf([...conditions, condition])} limit ${limit}`;
  return {
    from: `(
      with containing as materialized (${rows(`${text} ilike ${like}`, `${most}::bigint`)}),
        alike as (${rows(
          `${text} not ilike ${like} and ${text} %> ${similar}`,
          `${most}::bigint - (select count(*) from containing)`,
        )})
      select * from containing union all select * from alike
    ) t`,
    order: `${text} ilike ${like} desc, word_similarity(${similar}, ${text}) desc`,
  };
}
