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

/** A parsed JSON document. Strings, numbers and literals are kept as source text. */
type Document = Map<string, Document> | Document[] | string;

/** Matches the tokens of JSON: strings with their quotes, punctuation, numbers and literals. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gsu;

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
  return stored === next ? stored : textOf(merged(read(stored), read(next)));
}

function merged(stored: Document | undefined, next: Document): Document {
  if (next instanceof Map) {
    const before = stored instanceof Map ? stored : new Map<string, Document>();
    return new Map([...next].map(([key, member]) => [key, merged(before.get(key), member)]));
  }
  if (Array.isArray(next)) {
    const before = Array.isArray(stored) ? stored : [];
    return next.map((element, index) => merged(before[index], element));
  }
  return typeof stored === 'string' && readsTheSame(stored, next) ? stored : next;
}

/**
 * Returns whether `next` is what JavaScript writes after reading the stored number. If the number is out of range, such
 * as 1e400, JavaScript writes `null`.
 */
function readsTheSame(stored: string, next: string): boolean {
  return /^[-\d]/.test(stored) && JSON.stringify(Number(stored)) === next;
}

function read(text: JsonText): Document {
  const rest = text.matchAll(tokens);
  return readValue(nextToken(rest), rest);
}

function readValue(token: string, rest: Iterator<RegExpMatchArray>): Document {
  if (token === '{') return readMembers(rest);
  if (token === '[') return readElements(rest);
  return token;
}

function readMembers(rest: Iterator<RegExpMatchArray>): Document {
  const members = new Map<string, Document>();
  for (let token = nextToken(rest); token !== '}'; token = nextToken(rest)) {
    if (token === ',') continue;
    nextToken(rest); // skips the colon
    members.set(JSON.parse(token) as string, readValue(nextToken(rest), rest));
  }
  return members;
}

function readElements(rest: Iterator<RegExpMatchArray>): Document {
  const elements: Document[] = [];
  for (let token = nextToken(rest); token !== ']'; token = nextToken(rest))
    if (token !== ',') elements.push(readValue(token, rest));
  return elements;
}

/** @throws {SyntaxError} if the document is incomplete */
function nextToken(rest: Iterator<RegExpMatchArray>): string {
  const match = rest.next();
  if (match.done === true) throw new SyntaxError('The text is not a JSON document');
  return match.value[0];
}

function textOf(document: Document): JsonText {
  if (document instanceof Map) {
    const members = [...document].map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`);
    return `{${members.join(',')}}`;
  }
  return Array.isArray(document) ? `[${document.map(textOf).join(',')}]` : document;
}
