import type { Problem } from '../errors/api-error.js';
import { join } from './field-path.js';

/** Bodies nested deeper than this are refused; no honest one is, and recursion over the others has an end. */
const deepest = 100;

/** Finds what Postgres cannot hold: NUL, surrogates without their other half, and absurdly deep nesting. */
export function unstorable(value: unknown, place: string, depth = 0): readonly Problem[] {
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed()
      ? [{ code: 42202, internalMessage: `${place} must be well-formed text without NUL` }]
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (depth === deepest)
    return [{ code: 42202, internalMessage: `the body is nested deeper than ${deepest} levels` }];
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => unstorable(element, `${place}[${index}]`, depth + 1));
  }
  return Object.entries(value).flatMap(([name, member]) => [
    ...unstorable(name, `the field name ${JSON.stringify(name)}`),
    ...unstorable(member, join(place, name), depth + 1),
  ]);
}
