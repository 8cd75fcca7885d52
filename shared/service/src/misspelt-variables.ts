import { nearestWord } from '@longshore/edge';
import type { Environment } from './given-values.js';

/**
 * The variables with the prefix `LONGSHORE_`. Any other variable with this prefix is a mistake, because no other
 * program uses the prefix.
 */
const ownVariables = [
  'LONGSHORE_APP',
  'LONGSHORE_KEY',
  'LONGSHORE_KEY_FILE',
  'LONGSHORE_START',
  'LONGSHORE_TEST_JOB',
  'LONGSHORE_URL',
];

/** Maximum number of typos in a name that counts as misspelt. */
const maxTypos = 3;

/**
 * Returns a warning for each environment variable that is probably misspelt:
 * - an unknown name that resembles a known one with the same prefix
 * - any other unknown name with the prefix `LONGSHORE_`
 *
 * Other unknown names, such as `DATABASE_HOST`, may belong to the application.
 */
export function misspeltVariables(environment: Environment, variables: readonly string[]): string[] {
  const existing = [...new Set([...variables, ...ownVariables])].filter((name) => name.includes('_'));
  const prefixes = new Set(existing.map(prefixOf));
  return Object.keys(environment)
    .filter((name) => !existing.includes(name) && prefixes.has(prefixOf(name)))
    .flatMap((name) => {
      const candidates = existing.filter((candidate) => prefixOf(candidate) === prefixOf(name));
      const nearest = nearestWord(name, candidates, maxTypos);
      if (nearest !== undefined)
        return [`${name} has no effect: there is no such variable. Did you mean ${nearest}?`];
      const isOwn = name.startsWith('LONGSHORE_');
      return isOwn ? [`${name} has no effect: the known names are ${ownVariables.join(', ')}`] : [];
    });
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf('_') + 1);
}
