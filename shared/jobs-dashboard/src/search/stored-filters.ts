import type { JsonValue } from '@longshore/jobs';
import { type Filters, isJobState, isTermKey, type Term } from './filters.js';

/** Parses filters that were stored as JSON; `null` if the value does not contain filters. */
export function storedFilters(stored: JsonValue): Filters | null {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return null;
  const { state = null, terms } = stored;
  if (!Array.isArray(terms)) return null;
  return {
    state: typeof state === 'string' && isJobState(state) ? state : null,
    terms: terms.flatMap(storedTerm),
  };
}

/** Parses the ids of selected jobs that were stored as JSON; an empty list if the value does not contain ids. */
export function storedIds(stored: JsonValue): string[] {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return [];
  const { ids } = stored;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

function storedTerm(stored: JsonValue): Term[] {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return [];
  const { key, value } = stored;
  return typeof key === 'string' && typeof value === 'string' && isTermKey(key) ? [{ key, value }] : [];
}
