import { type NumberStringifier, parse, stringify } from 'lossless-json';
import type { JsonText } from './job.js';

/**
 * A decimal number with at most this many significant digits survives the conversion to a JavaScript number (IEEE 754,
 * binary64) and back, provided that it is not extremely large or small.
 */
const maxExactDigits = 15;

/**
 * Matches JSON with a number that JavaScript could write differently: one with a fraction, an exponent, many digits, or a
 * sign before zero. It also matches some strings. A text without a match needs no slow reading of its numbers.
 */
const mayLoseDigits = /\d[.eE]|\d{16}|-0/;

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

/** A number as text, with all digits. A JavaScript number might lose some of them. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value in which some numbers, or all of them, have all of their digits. */
export type ExactJson = JsonPrimitive | ExactNumber | ExactJson[] | { [key: string]: ExactJson };
type JsonPrimitive = null | boolean | number | string;

/**
 * Parses JSON without losing digits of large numbers such as `900719925474099312345`. A number that JavaScript would
 * write differently becomes an {@link ExactNumber}. Only a document with thousands of nested levels, which no way into
 * the store accepts, is parsed with the precision of JavaScript.
 */
export function parseExactly(text: JsonText): ExactJson {
  if (!mayLoseDigits.test(text)) return JSON.parse(text) as ExactJson;
  try {
    return read(text, (literal) => {
      const number = Number(literal);
      return String(number) === literal ? number : new ExactNumber(literal);
    });
  } catch (error) {
    // lossless-json recurses, so thousands of nested levels exceed the stack. JSON.parse needs none.
    if (error instanceof RangeError) return JSON.parse(text) as ExactJson;
    throw error;
  }
}

/**
 * Returns the new document, but keeps the stored digits of numbers that did not change. Compares each number with the
 * stored number under the same key or index. A number is unchanged if it is what JavaScript writes after reading the
 * stored number.
 *
 * JavaScript reads 12345678901234567890 as 12345678901234567000. Without this function, a program that reads a
 * document, changes one member and writes the document back would also change large numbers in other members.
 *
 * @param stored the current document
 * @param next the new document
 */
export function keepStoredDigits(stored: JsonText, next: JsonText): JsonText {
  if (stored === next) return stored;
  if (!mayLoseDigits.test(stored)) return next;
  const toNumber = (literal: string): ExactNumber => new ExactNumber(literal);
  return stringify(merged(read(stored, toNumber), read(next, toNumber)), null, undefined, [asWritten]) ?? '';
}

const asWritten: NumberStringifier = {
  test: (value) => value instanceof ExactNumber,
  stringify: (value) => (value as ExactNumber).text,
};

function merged(stored: ExactJson | undefined, next: ExactJson): ExactJson {
  if (stored instanceof ExactNumber && readsAs(stored, next)) return stored;
  if (typeof next !== 'object' || next === null || next instanceof ExactNumber) return next;
  if (Array.isArray(next)) {
    const before = Array.isArray(stored) ? stored : [];
    return next.map((element, index) => merged(before[index], element));
  }
  const before = new Map(isMembers(stored) ? Object.entries(stored) : []);
  return Object.fromEntries(
    Object.entries(next).map(([key, member]) => [key, merged(before.get(key), member)]),
  );
}

function isMembers(value: ExactJson | undefined): value is { [key: string]: ExactJson } {
  return (
    typeof value === 'object' && value !== null && !(value instanceof ExactNumber) && !Array.isArray(value)
  );
}

/**
 * Returns whether `next` is what JavaScript writes after reading the stored number. If the number is out of range, such
 * as 1e400, JavaScript writes `null`.
 */
function readsAs(stored: ExactNumber, next: ExactJson): boolean {
  const written = JSON.stringify(Number(stored.text));
  return next instanceof ExactNumber ? next.text === written : next === null && written === 'null';
}

function read(text: JsonText, parseNumber: (literal: string) => number | ExactNumber): ExactJson {
  // The last of several members of one name counts, as for JSON.parse.
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as ExactJson;
}
