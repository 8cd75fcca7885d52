import type { JsonValue } from '@longshore/jobs';
import { exactNumberOf } from './exact-json.js';

/**
 * Default pattern for the keys of secret values. Some words, such as `pin`, match only as whole words, so `spin` does
 * not match.
 */
export const defaultRedaction = new RegExp(
  [
    'passw|passphrase|pwd|secret|token|credential|authorization|cookie|session|bearer|jwt|signature',
    '(api|access|private|encryption|signing)[-_ ]?key|card[-_ ]?number',
    '(^|[-_ ])(pass|pin|otp|cvv2?|cvc2?|iban|ssn)([-_ ]|$)',
  ].join('|'),
  'i',
);

/** Stands for a redacted value. Because it is a symbol, no job argument can be mistaken for it. */
export const redacted: unique symbol = Symbol('redacted');

/** Stands for a value that is nested too deeply. */
export const omitted: unique symbol = Symbol('omitted');

const MAX_DEPTH = 64;

/** A number as text, with all digits. A JavaScript number might lose some of them. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Shown =
  JsonPrimitive | ExactNumber | typeof redacted | typeof omitted | Shown[] | { [key: string]: Shown };
type JsonPrimitive = null | boolean | number | string;

/**
 * Returns a copy of the value in which values under redacted keys are replaced, at any depth (see {@link isRedacted}).
 * Objects and arrays at depth 64 become {@link omitted}.
 */
export function redact(value: JsonValue, pattern: RegExp, depth = 0): Shown {
  if (value === null || typeof value !== 'object') return value;
  const exact = exactNumberOf(value);
  if (exact !== null) return new ExactNumber(exact);
  if (depth === MAX_DEPTH) return omitted;
  if (Array.isArray(value)) return value.map((element) => redact(element, pattern, depth + 1));
  const copy: { [key: string]: Shown } = Object.create(null) as { [key: string]: Shown };
  for (const [key, member] of Object.entries(value)) {
    copy[key] = isRedacted(key, pattern) ? redacted : redact(member, pattern, depth + 1);
  }
  return copy;
}

/**
 * Returns whether values under this key are redacted. Matches the pattern against the key as written, such as
 * `userPIN`, and with hyphens between its words, such as `user-PIN`.
 */
export function isRedacted(key: string, pattern: RegExp): boolean {
  const words = key.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2-');
  return matches(pattern, key) || matches(pattern, words);
}

/** Tests the key from the start. Without the reset, a global or sticky pattern would start after the previous match. */
function matches(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}
