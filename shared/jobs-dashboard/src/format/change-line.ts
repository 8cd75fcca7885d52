import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { argsLine } from './args-line.js';

/**
 * Formats a change of values as one line, including the previous values if known:
 * `at: "2026-03-02T08:00" → "2026-03-02T09:00"`. Omits unchanged values; if no value has changed, shows all.
 *
 * @param pattern matches keys whose values are redacted
 */
export function changeLine(before: JsonValue, values: JsonValue, pattern: RegExp): string {
  if (!isObject(before) || !isObject(values)) return argsLine(values, pattern);
  const changed = Object.entries(values).filter(([key, value]) => !isDeepStrictEqual(before[key], value));
  const lines = changed.map(([key, value]) => {
    const line = (each: JsonValue): string => argsLine({ [key]: each }, pattern);
    return `${line(before[key] ?? null)} → ${line(value).slice(`${key}: `.length)}`;
  });
  return lines.join(', ') || argsLine(values, pattern);
}

function isObject(value: JsonValue): value is { [member: string]: JsonValue } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
