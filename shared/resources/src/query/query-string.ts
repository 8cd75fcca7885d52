import { apiError } from '../errors/api-error.js';

/** The links of a page repeat the query, and the size of headers is limited. */
const maxQueryLength = 12_000;

/**
 * Returns the decoded query parameters in their order.
 * @throws {ApiError} 40003 for bad percent-encoding, NUL, and a query that is too long
 */
export function parseQueryString(query: string): readonly (readonly [name: string, value: string])[] {
  if (query === '') return [];
  if (query.length > maxQueryLength)
    throw apiError(40003, `The query has ${query.length} characters; at most ${maxQueryLength} are allowed`);
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals < 0
        ? [decode(pair), '']
        : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function decode(text: string): string {
  return decodePercent(text.replaceAll('+', ' '), 'query');
}

/** Decodes one part of a URL. @throws {ApiError} 40003 for bad percent-encoding and NUL */
export function decodePercent(text: string, where: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw apiError(40003, `The ${where} has bad percent-encoding: ${text.slice(0, 100)}`);
  }
  if (decoded.includes('\0')) throw apiError(40003, `The ${where} has a NUL character`);
  return decoded;
}
