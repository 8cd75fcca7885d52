import type { JsonValue } from '@longshore/jobs';
import { exactNumberOf } from './exact-json.js';

/**
 * The default pattern of keys whose values are never shown. Short words match only as whole words: `pin`, not `spin`.
 */
export const defaultRedaction = new RegExp(
  [
    'passw|passphrase|pwd|secret|token|credential|authorization|cookie|session|bearer|jwt|signature',
    '(api|access|private|encryption|signing)[-_ ]?key|card[-_ ]?number',
    '(^|[-_ ])(pass|pin|otp|cvv2?|cvc2?|iban|ssn)([-_ ]|$)',
  ].join('|'),
  'i',
);

/** The replacement of a redacted value. A symbol, so that no argument can be mistaken for it. */
export const redacted: unique symbol = Symbol('redacted');

/** The replacement of a value that is nested too deeply. */
export const omitted: unique symbol = Symbol('omitted');

const MAX_DEPTH = 64;

/** A number with all its digits. */
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
 * Returns a copy of the value with redacted members replaced, at any depth. See {@link isRedacted} for how
 * `pattern` is matched.
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
 * Returns whether values under a key are redacted. The pattern is matched against the key as written, and
 * with hyphens between its words: `user-PIN`.
 */
export function isRedacted(key: string, pattern: RegExp): boolean {
  const words = key.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2-');
  return matches(pattern, key) || matches(pattern, words);
}

/**
 * Searches the key from its beginning, even if the pattern is global or sticky and would continue after its last match.
 */
function matches(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}
