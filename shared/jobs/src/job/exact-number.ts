import { randomUUID } from 'node:crypto';
import type { JsonText, JsonValue } from './job.js';

/**
 * A decimal number with at most this many significant digits survives the conversion to a JavaScript number (IEEE 754,
 * binary64) and back, provided that it is not extremely large or small.
 */
const maxExactDigits = 15;

/**
 * Returns whether a JSON number keeps its value when JavaScript parses it: `7`, `1.50` and `1e3` do, but
 * `9007199254740993` and `1e400` do not.
 */
export function isExactNumber(literal: string): boolean {
  const number = Number(literal);
  if (String(number) === literal) return true;
  const digits = literal.replace(/e.*/i, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
  const size = Math.abs(number);
  return digits === '' || (digits.length <= maxExactDigits && size >= 1e-300 && size <= 1e300);
}

/** The key that marks exact numbers. It is random, so that no key in the arguments of a job is mistaken for it. */
const mark = randomUUID();
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/**
 * Parses JSON without losing digits of large numbers such as `900719925474099312345`. A number that JavaScript would
 * write differently becomes a marked object; {@link exactNumberOf} returns the digits of that object.
 */
export function parseExactly(text: JsonText): JsonValue {
  const marked = text.replaceAll(stringOrNumber, (literal) =>
    literal.startsWith('"') || String(Number(literal)) === literal ? literal : `{"${mark}":"${literal}"}`,
  );
  return JSON.parse(marked) as JsonValue;
}

/** Returns the digits of a number that {@link parseExactly} has marked; `null` for any other object. */
export function exactNumberOf(value: object): string | null {
  return mark in value ? String((value as Record<string, unknown>)[mark]) : null;
}
