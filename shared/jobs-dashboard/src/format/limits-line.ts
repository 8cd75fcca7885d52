import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { formatNumber, formatRate } from './count.js';

/**
 * Formats the new limits of a queue as one line, with the previous ones if known.
 * Example: `at once 2 → 4, starts none → 100 per min`. Shows only changed limits, or all if none has changed. Returns
 * `null` if the values are not limits.
 */
export function limitsLine(before: JsonValue, values: JsonValue): string | null {
  if (!isObject(values)) return null;
  const limits = Object.entries(values);
  const previous = new Map(isObject(before) ? Object.entries(before) : []);
  const changed = limits.filter(([key, value]) => !isDeepStrictEqual(previous.get(key), value));
  const lines =
    changed.length === 0
      ? limits.map(([key, value]) => limitLine(key, [value]))
      : changed.map(([key, value]) =>
          limitLine(key, previous.has(key) ? [previous.get(key) ?? null, value] : [value]),
        );
  return lines.includes(null) ? null : lines.join(', ');
}

/** @param limits the previous value, if known, followed by the new one */
function limitLine(key: string, limits: readonly JsonValue[]): string | null {
  if (key === 'concurrencyLimit') return joined('at once', limits.map(numberOf));
  if (key === 'rateLimit') return joined('starts', limits.map(rateOf));
  return null;
}

function joined(what: string, limits: readonly (string | null)[]): string | null {
  return limits.includes(null) ? null : `${what} ${limits.join(' → ')}`;
}

function numberOf(limit: JsonValue): string | null {
  if (limit === null) return 'none';
  return typeof limit === 'number' ? formatNumber(limit) : null;
}

function rateOf(limit: JsonValue): string | null {
  if (limit === null) return 'none';
  if (!isObject(limit)) return null;
  const { jobs, periodMs, burst } = limit;
  if (typeof jobs !== 'number' || typeof periodMs !== 'number') return null;
  return (
    formatRate({ jobs, periodMs }) + (typeof burst === 'number' ? ` (${formatNumber(burst)} in a burst)` : '')
  );
}

/** Returns whether a value is a JSON object. */
export function isObject(value: JsonValue): value is { readonly [member: string]: JsonValue } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
