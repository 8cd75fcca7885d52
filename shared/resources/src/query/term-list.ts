import { apiError } from '../errors/api-error.js';
import type { SortTerm } from './collection-query.js';

/** Parses `sort`, e.g. `+a,-b`. No sign means ascending, and so does a `+` that was decoded as a space. @throws {ApiError} 40003 */
export function parseSort(text: string, sortable: readonly string[]): readonly SortTerm[] {
  const terms = text.split(',').map((term): SortTerm => {
    const sign = /^[-+ ]/.exec(term)?.[0];
    return { field: sign === undefined ? term : term.slice(1), direction: sign === '-' ? 'desc' : 'asc' };
  });
  requireKnownOnce(
    'sort',
    terms.map(({ field }) => field),
    sortable,
  );
  return terms;
}

/** Parses `fields`: names separated by commas. @throws {ApiError} 40003 */
export function parseFields(text: string, known: readonly string[]): readonly string[] {
  const names = text.split(',');
  requireKnownOnce('fields', names, known);
  return names;
}

function requireKnownOnce(parameter: string, names: readonly string[], known: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (!known.includes(name)) {
      throw apiError(
        40003,
        `${parameter} does not support "${name.slice(0, 100)}"; supported: ${known.join(', ')}`,
      );
    }
    if (names.indexOf(name) !== index) throw apiError(40003, `${parameter} repeats "${name}"`);
  }
}
