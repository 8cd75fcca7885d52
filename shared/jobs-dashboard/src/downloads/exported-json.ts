import type { JsonValue } from '@longshore/jobs';
import { ExactNumber, omitted, redact, redacted, type Shown } from '@longshore/jobs/storage';

/**
 * Returns a value as it appears in exports: redacted in the same way as on pages, and with `≈` in front of integers
 * that may have lost digits.
 */
export function exportedJson(value: JsonValue, pattern: RegExp): JsonValue {
  return plain(redact(value, pattern));
}

function plain(value: Shown): JsonValue {
  if (value === redacted) return 'redacted';
  if (value === omitted) return '…';
  if (value instanceof ExactNumber) return value.text;
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? `≈${value}` : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
