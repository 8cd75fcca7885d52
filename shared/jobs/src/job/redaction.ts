import { type ExactJson, ExactNumber, parseExactly } from './exact-number.js';
import type { JsonText } from './job.js';

/**
 * Default pattern for the keys of secret values. Some words, such as `pin`, match only as whole words, so `spin` does
 * not match.
 */
export const defaultRedaction = new RegExp(
  [
    'passw|passphrase|pwd|secret|token|credential|authorization|cookie|session|bearer|jwt|signature',
    '(api|access|private|encryption|signing)[-_ ]?key|card[-_ ]?number|conn(ection)?[-_ ]?str(ing)?',
    '(database|db|postgres|mysql|mongo|redis|amqp|smtp|broker)[-_ ]?(url|uri)',
    '(^|[-_ ])(auth|dsn|pass|pin|otp|cvv2?|cvc2?|iban|ssn)([-_ ]|$)',
  ].join('|'),
  'i',
);

/** Stands for a redacted value. Because it is a symbol, no job argument can be mistaken for it. */
export const redacted: unique symbol = Symbol('redacted');

/** Stands for a value that is nested too deeply. */
export const omitted: unique symbol = Symbol('omitted');

const maxDepth = 64;

export type Shown =
  JsonPrimitive | ExactNumber | typeof redacted | typeof omitted | Shown[] | { [key: string]: Shown };
type JsonPrimitive = null | boolean | number | string;

/** Members that name the value beside them, as in `{ "name": "password", "value": "hunter2" }`, and that value. */
const labels = new Set(['name', 'key', 'field', 'header', 'parameter']);
const labelled = new Set(['value', 'values']);

/**
 * Returns a copy of the value in which the following are replaced, at any depth:
 * - values under redacted keys (see {@link isRedacted});
 * - the value of an entry that a redacted key names: `{ "name": "password", "value": … }`, and `["password", …]` in an
 *   array.
 *
 * Objects and arrays at depth 64 become {@link omitted}. The function `redacted` in SQL returns the same.
 */
export function redact(value: ExactJson, pattern: RegExp): Shown {
  return redactAt(value, pattern, 0, false);
}

function redactAt(value: ExactJson, pattern: RegExp, depth: number, isElement: boolean): Shown {
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return value;
  if (depth === maxDepth) return omitted;
  if (Array.isArray(value)) {
    const isPair = isElement && value.length === 2 && isRedactedLabel(value[0], pattern);
    return value.map((element, index) =>
      isPair && index === 1 ? redacted : redactAt(element, pattern, depth + 1, true),
    );
  }
  const members = Object.entries(value);
  const isEntry = members.some(
    ([key, label]) => labels.has(key.toLowerCase()) && isRedactedLabel(label, pattern),
  );
  const copy: { [key: string]: Shown } = Object.create(null) as { [key: string]: Shown };
  for (const [key, member] of members) {
    const isHidden = isRedacted(key, pattern) || (isEntry && labelled.has(key.toLowerCase()));
    copy[key] = isHidden ? redacted : redactAt(member, pattern, depth + 1, false);
  }
  return copy;
}

function isRedactedLabel(label: ExactJson | undefined, pattern: RegExp): boolean {
  return typeof label === 'string' && isRedacted(label, pattern);
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

/**
 * Returns JSON as searches see it: without the values that a pattern redacts; unchanged if there are none.
 *
 * @param pattern the source of the pattern (see {@link searchableRedaction})
 */
export function redactedText(json: JsonText, pattern: string): JsonText {
  const shown = redact(parseExactly(json), new RegExp(pattern, 'is'));
  return holdsRedacted(shown) ? textOf(shown) : json;
}

function holdsRedacted(value: Shown): boolean {
  if (value === redacted) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsRedacted);
}

function textOf(value: Shown): string {
  if (value === redacted) return '"redacted"';
  if (value === omitted) return '"…"';
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${textOf(member)}`);
  return `{${members.join(', ')}}`;
}

/** The syntax that regular expressions of JavaScript and of Postgres share. */
const shared =
  /^(?:[^\\()[\]{}]|\((?!\?)|\(\?[:=!]|\)|\{\d+(?:,\d*)?\}|\[\^?(?:[^\\[\]]|\\[dsw\\\]^-])+\]|\\[dsw.*+?^$|(){}[\]\\/-])*$/u;

/**
 * Returns a pattern of redacted keys as searches take it. They compare keys in any case.
 *
 * @throws {TypeError} if the pattern uses syntax that regular expressions of Postgres do not have, such as `\b` or `\p{…}`:
 *   searches could then find what pages do not show
 */
export function searchableRedaction({ source }: RegExp): string {
  if (shared.test(source)) return source;
  throw new TypeError(
    `The pattern of redacted keys, ${source}, uses syntax that Postgres does not know: write ([-_ ]|$) instead of \\b, and no \\p, \\D, \\S, \\W, look-behind or back-reference`,
  );
}
