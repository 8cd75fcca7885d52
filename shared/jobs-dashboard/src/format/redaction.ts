import type { JsonValue } from '@longshore/jobs';
import { exactNumberOf } from './exact-json.js';

/** Members whose keys look like these are never shown. */
export const defaultRedaction =
  /passw|secret|token|credential|authorization|cookie|session|api[-_]?key|private[-_]?key|(^|[-_])(pin|cvv|cvc|iban|ssn)$|card[-_]?number/i;

/** Stands where a redacted value stood. A symbol, so that no argument can be mistaken for it. */
export const redacted: unique symbol = Symbol('redacted');

/** Stands where a document went on too deep to read. */
export const omitted: unique symbol = Symbol('omitted');

const MAX_DEPTH = 64;

/** A number, to the digit. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Shown =
  JsonPrimitive | ExactNumber | typeof redacted | typeof omitted | Shown[] | { [key: string]: Shown };
type JsonPrimitive = null | boolean | number | string;

/** A copy of the value without what operators should not see. `pattern` is tested against each key, at any depth. */
export function redact(value: JsonValue, pattern: RegExp, depth = 0): Shown {
  if (value === null || typeof value !== 'object') return value;
  const exact = exactNumberOf(value);
  if (exact !== null) return new ExactNumber(exact);
  if (depth === MAX_DEPTH) return omitted;
  if (Array.isArray(value)) return value.map((element) => redact(element, pattern, depth + 1));
  const copy: { [key: string]: Shown } = Object.create(null) as { [key: string]: Shown };
  for (const [key, member] of Object.entries(value)) {
    copy[key] = matches(pattern, key) ? redacted : redact(member, pattern, depth + 1);
  }
  return copy;
}

/** `RegExp.test` remembers where it stopped if the caller's pattern is global or sticky. */
function matches(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}
