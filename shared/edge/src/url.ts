import { isStorable, shorten } from './text.js';

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
