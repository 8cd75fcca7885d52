import type { JsonValue } from '@longshore/jobs';
import { type Filters, isJobState, isTermKey, type Term } from './filters.js';

/** Parses filters stored as JSON; `null` for anything else. */
export function storedFilters(stored: JsonValue): Filters | null {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return null;
  const { state = null, terms } = stored;
  if (!Array.isArray(terms)) return null;
  return {
    state: typeof state === 'string' && isJobState(state) ? state : null,
    terms: terms.flatMap(storedTerm),
  };
}

/** Parses ids of selected jobs stored as JSON; empty for anything else. */
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
