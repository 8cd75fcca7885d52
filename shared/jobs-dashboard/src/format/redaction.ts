import type { JsonValue } from '@longshore/jobs';
import { exactNumberOf } from './exact-json.js';

/**
 * The default pattern for keys whose values are redacted. Short words must match whole words, so `pin` does not match
 * `spin`.
 */
export const defaultRedaction = new RegExp(
  [
    'passw|passphrase|pwd|secret|token|credential|authorization|cookie|session|bearer|jwt|signature',
    '(api|access|private|encryption|signing)[-_ ]?key|card[-_ ]?number',
    '(^|[-_ ])(pass|pin|otp|cvv2?|cvc2?|iban|ssn)([-_ ]|$)',
  ].join('|'),
  'i',
);

/** Replaces a redacted value. It is a symbol, so that no argument of a job can be mistaken for it. */
export const redacted: unique symbol = Symbol('redacted');

/** Replaces a value that is nested too deeply. */
export const omitted: unique symbol = Symbol('omitted');

const MAX_DEPTH = 64;

/** A number with all its digits, even those that a JavaScript number would lose. */
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
 * Returns a copy of the value in which the values of members with redacted keys are replaced, at any depth. See
 * {@link isRedacted} for how `pattern` is matched.
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
 * Returns whether values under this key are redacted. The pattern is matched against the key as written, and against
 * the key with hyphens between its words, such as `user-PIN`.
 */
export function isRedacted(key: string, pattern: RegExp): boolean {
  const words = key.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2-');
  return matches(pattern, key) || matches(pattern, words);
}

/**
 * Matches from the beginning of the key. Without the reset, a global or sticky pattern would continue after its last
 * match.
 */
function matches(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}
