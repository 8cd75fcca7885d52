import type { JsonText } from './job.js';

/** A JSON document whose scalars are still the text that they were written as. */
type Document = Map<string, Document> | Document[] | string;

/** Strings, with their quotes; brackets, braces, commas and colons; everything else up to the next of them. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gsu;

/**
 * The new content of a document, with every number in it that reads the same as before kept as it is stored, to the last
 * digit. JavaScript reads 12345678901234567890 as 12345678901234567000: who changes one member of a document in JavaScript
 * must not thereby change another one.
 *
 * A number that JavaScript would have written otherwise comes from no JavaScript number, and is taken as it is.
 *
 * @param stored the document as it is
 * @param next what it is to be
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

/** A number beyond all that JavaScript has, 1e400, is written back as null. */
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
    nextToken(rest); // the colon
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

/** @throws {SyntaxError} if the text ends too early: it is no JSON */
function nextToken(rest: Iterator<RegExpMatchArray>): string {
  const match = rest.next();
  if (match.done === true) throw new SyntaxError('The text is no JSON document');
  return match.value[0];
}

function textOf(document: Document): JsonText {
  if (document instanceof Map) {
    const members = [...document].map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`);
    return `{${members.join(',')}}`;
  }
  return Array.isArray(document) ? `[${document.map(textOf).join(',')}]` : document;
}
