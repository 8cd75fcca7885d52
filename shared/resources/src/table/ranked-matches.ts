import { allOf, containing, type Parameters } from './conditions.js';

/** Of more matches than this only the first found are ranked: to compare a million texts takes ten seconds. */
const mostRanked = 5_000;

export interface RankedSearch {
  /** What follows FROM in a query of the table, whose alias is `t`. */
  readonly from: string;
  /** What the rows must satisfy besides the search. */
  readonly conditions: readonly string[];
  /** The expression that is searched. */
  readonly text: string;
  readonly search: string;
  /** Ranked at least, so that every page of a long result can be reached. */
  readonly atLeast: number;
}

/**
 * The matches that are to be ranked, as something to select from, and the order that puts the best first. Rows that contain
 * the text come before those that are only similar to it; where there are enough of them, the similar ones are not looked for.
 */
export function rankedMatches(
  { from, conditions, text, search, atLeast }: RankedSearch,
  parameters: Parameters,
): { readonly from: string; readonly order: string } {
  const like = parameters.add(containing(search));
  const similar = parameters.add(search);
  const most = parameters.add(Math.max(mostRanked, atLeast));
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
