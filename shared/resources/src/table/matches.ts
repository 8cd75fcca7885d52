import type { Spelling } from '@longshore/edge';
import { allOf, occursIn, type Parameters } from './conditions.js';

/** Maximum number of matches to rank, unless the page needs more. Ranking a million matches takes ten seconds. */
const maxRanked = 5_000;

export interface SearchedRows {
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
export interface Matches {
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
export function findMatches(
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
  const others = `${max} - (select count(*) from containing)`;
  return {
    clauses: `
      ${containing},
      alike as materialized (${rows([...some, `not (${allOf(exact)})`], others)}),
      matches as materialized (select * from containing union all select * from alike)`,
    order: () => words.map((spellings) => typosOf(text, spellings, parameters)).join(' + '),
    limit,
  };
}

/** Returns an SQL expression for the number of typos in the best spelling of a word that a text contains. */
function typosOf(text: string, spellings: readonly Spelling[], parameters: Parameters): string {
  const numbers = [...new Set(spellings.map(({ typos }) => typos))];
  const cases = numbers.map((typos) => {
    const own = spellings.filter((spelling) => spelling.typos === typos);
    return `when ${occursIn(text, own, parameters)} then ${typos}`;
  });
  return `case ${cases.join(' ')} end`;
}
