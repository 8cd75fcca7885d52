import type { JsonValue } from '@longshore/jobs';
import { type Filters, isJobState, isTermKey, type Term } from './filters.js';

/** Filters that were written down as JSON; `null` if it is anything else. */
export function storedFilters(stored: JsonValue): Filters | null {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return null;
  const { state = null, terms } = stored;
  if (!Array.isArray(terms)) return null;
  return {
    state: typeof state === 'string' && isJobState(state) ? state : null,
    terms: terms.flatMap(storedTerm),
  };
}

function storedTerm(stored: JsonValue): Term[] {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return [];
  const { key, value } = stored;
  return typeof key === 'string' && typeof value === 'string' && isTermKey(key) ? [{ key, value }] : [];
}
