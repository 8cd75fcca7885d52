import { apiError } from '../errors/api-error.js';

/**
 * Returns the decoded names and values of a query's parameters, in their original order.
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function parseQueryString(query: string): readonly (readonly [name: string, value: string])[] {
  if (query === '') return [];
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals), 'The name of a parameter');
      return [name, equals < 0 ? '' : decode(pair.slice(equals + 1), name.slice(0, 100))];
    });
}

function decode(text: string, what: string): string {
  return decodePercent(text.replaceAll('+', ' '), what);
}

/**
 * Decodes one part of a URL.
 * @param what the name of the part, for messages
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function decodePercent(text: string, what: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw apiError(40003, `${what} must be UTF-8 in percent-encoding, not ${text.slice(0, 100)}`);
  }
  if (decoded.includes('\0')) throw apiError(40003, `${what} must not contain NUL`);
  return decoded;
}
