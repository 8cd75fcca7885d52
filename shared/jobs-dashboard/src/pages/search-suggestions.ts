import type { JsonValue } from '@longshore/jobs';
import { redact, type Shown } from '@longshore/jobs/storage';
import { type Filters, jobsPath, type TermKey } from '../search/filters.js';
import type { PageContext } from '../shell/page.js';

/** A suggestion to search for a word at one path in the arguments. */
interface ArgumentSearch {
  /** The text to enter in the search box, such as `args.order.id:4711`. */
  readonly text: string;
  readonly path: string;
}

/** Maximum number of jobs to read. */
const SAMPLE = 50;
const MAX_PATHS = 4;
const MAX_DEPTH = 4;
const number = /^\d+$/;

/** If one of the search words is a number, suggests searching for it in specific arguments. */
export async function suggestSearches(
  filters: Filters,
  { reader, redact: pattern }: PageContext,
): Promise<ArgumentSearch[]> {
  const word = numberIn(filters);
  if (word === null) return [];
  const { jobs } = await reader.jobs.listBrief({ limit: SAMPLE, reach: 'near' });
  return suggestArguments(
    filters,
    word,
    jobs.map(({ args }) => args),
    pattern,
  );
}

/** Returns the first search word that consists only of digits, such as an order number; `null` if there is none. */
function numberIn({ terms }: Filters): string | null {
  return terms.find(({ key, value }) => key === 'q' && number.test(value))?.value ?? null;
}

/**
 * Suggests searches for a number at the paths where the sampled arguments contain numbers, most frequent paths first.
 * Unlike a word search, these searches cover all of history.
 *
 * @param args the arguments of a sample of jobs
 */
function suggestArguments(
  filters: Filters,
  word: string,
  args: readonly JsonValue[],
  pattern: RegExp,
): ArgumentSearch[] {
  const counts = new Map<string, number>();
  for (const document of args)
    for (const path of numbersIn(redact(document, pattern), []))
      counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MAX_PATHS)
    .map(([path]) => {
      const key: TermKey = `args.${path}`;
      const terms = filters.terms.filter((term) => term.key !== 'q' || term.value !== word);
      return {
        text: `${key}:${word}`,
        path: jobsPath({ ...filters, terms: [...terms, { key, value: word }] }),
      };
    });
}

/** Returns the paths of integers and of strings of digits. Skips arrays and deeply nested values. */
function numbersIn(value: Shown, path: readonly string[]): string[] {
  if (typeof value === 'number') return Number.isInteger(value) ? [path.join('.')] : [];
  if (typeof value === 'string') return number.test(value) ? [path.join('.')] : [];
  if (value === null || typeof value !== 'object' || Array.isArray(value) || path.length === MAX_DEPTH)
    return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '' || name.includes('.') ? [] : numbersIn(inner as Shown, [...path, name]),
  );
}
