import { closest, distance } from 'fastest-levenshtein';
import type { Environment } from './config.js';

/**
 * The variables with the prefix `LONGSHORE_`. No other program uses this prefix, so any other name that begins with it
 * is a mistake.
 */
const ownVariables = ['LONGSHORE_APP', 'LONGSHORE_KEY', 'LONGSHORE_URL'];

/** A name counts as misspelt if it has at most this many wrong, missing or extra characters. */
const maxMistakes = 3;

/**
 * Returns a warning for each environment variable that looks as if it should have an effect but has none: an unknown
 * variable with the prefix `LONGSHORE_`, or one that resembles a known name with the same prefix. Other unknown
 * variables, such as `DATABASE_HOST`, may belong to the application.
 */
export function misspeltVariables(environment: Environment, variables: readonly string[]): string[] {
  const known = [...new Set([...variables, ...ownVariables])].filter((name) => name.includes('_'));
  const prefixes = new Set(known.map(prefixOf));
  return Object.keys(environment)
    .filter((name) => !known.includes(name) && prefixes.has(prefixOf(name)))
    .flatMap((name) => {
      const nearest = closest(
        name,
        known.filter((each) => prefixOf(each) === prefixOf(name)),
      );
      if (distance(name, nearest) <= maxMistakes)
        return [`${name} has no effect: there is no such variable. Did you mean ${nearest}?`];
      const isOwn = name.startsWith('LONGSHORE_');
      return isOwn ? [`${name} has no effect: the known names are ${ownVariables.join(', ')}`] : [];
    });
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf('_') + 1);
}
