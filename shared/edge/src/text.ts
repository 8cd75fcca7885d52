/** Returns whether Postgres can store a text: it contains neither NUL nor lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Replaces what Postgres cannot store: NUL by its symbol, lone surrogates by U+FFFD. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed();
}

/** Created on first use, because that takes some milliseconds. */
let graphemes: Intl.Segmenter | undefined;

/** How many code units after a cut can belong to the character before it. Longer characters are cut between code points. */
const longestCharacter = 64;

/**
 * Returns a text of at most `max` UTF-16 code units: the text itself, or its beginning. Never cuts inside a character,
 * such as an emoji or a letter with its accents. The result is well-formed.
 *
 * @param mark appended to a text that was cut, in addition to `max`; empty by default
 */
export function shorten(text: string, max: number, mark = ''): string {
  if (text.length <= max) return text.toWellFormed();
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const character = graphemes.segment(text.slice(0, max + longestCharacter)).containing(max);
  const start = character?.index ?? 0;
  const end = start > max - longestCharacter || start > 0 ? start : codePointBoundary(text, max);
  return text.slice(0, end).toWellFormed() + mark;
}

/** Returns `index`, or the index before it if `index` is inside a surrogate pair. */
function codePointBoundary(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xff_ff ? index - 1 : index;
}

/**
 * Control characters and invisible characters that change the direction or the order of text. A terminal obeys some of
 * them, and all of them can make a text look like another.
 */
const unprintable = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/**
 * Returns a text that is safe to print on a terminal. Shows control characters, and characters that change the direction
 * of text, as escapes such as `\x1b` and `\u202e`.
 *
 * @param keeps characters to leave as they are, such as `'\n'`
 */
export function printable(text: string, keeps = ''): string {
  return text.replace(unprintable, (character) => {
    if (keeps.includes(character)) return character;
    const code = character.charCodeAt(0);
    return code < 0x1_00 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Compares texts alphabetically: by the root collation of Unicode (`und-x-icu` in Postgres), and if that is a tie, by code points. */
let alphabet: Intl.Collator | undefined;

/** Compares two texts by {@link sortCollation}. Returns a negative number, 0 or a positive number. */
export function compareTexts(one: string, other: string): number {
  alphabet ??= new Intl.Collator('en', { usage: 'sort' });
  return alphabet.compare(one, other) || compareCodePoints(one, other);
}

/** The collation of Postgres that sorts as {@link compareTexts} does. */
export const sortCollation = '"und-x-icu"';

/** Compares by code points, as Postgres does; `<` would compare by UTF-16 code units. */
function compareCodePoints(one: string, other: string): number {
  if (one === other) return 0;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Thrown if a part of a URL cannot be read. The message is for the person who sent it. */
export class UrlError extends Error {
  override readonly name = 'UrlError';
}

/**
 * Decodes one part of a URL.
 *
 * @param what the name of the part, for messages
 * @throws {UrlError} for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function decodePercent(text: string, what: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new UrlError(`${what} must be UTF-8 in percent-encoding, not ${shorten(text, 100)}`);
  }
  if (!isStorable(decoded)) throw new UrlError(`${what} must not contain NUL`);
  return decoded;
}

/**
 * Returns the decoded names and values of a query or of a submitted form, in their original order.
 *
 * @throws {UrlError} for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function decodePairs(query: string): readonly (readonly [name: string, value: string])[] {
  if (query === '') return [];
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals), 'The name of a parameter');
      return [name, equals < 0 ? '' : decode(pair.slice(equals + 1), shorten(name, 100))];
    });
}

function decode(text: string, what: string): string {
  return decodePercent(text.replaceAll('+', ' '), what);
}
