import { decodePairs, decodePercent, UrlError } from '@longshore/edge';
import { apiError } from '../errors/api-error.js';

/**
 * Returns the decoded names and values of a query's parameters, in their original order.
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function parseQueryString(query: string): readonly (readonly [name: string, value: string])[] {
  return rejecting(() => decodePairs(query));
}

/**
 * Returns the decoded segments of a path, ignoring a trailing slash.
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function pathSegments(path: string): readonly string[] {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  return rejecting(() => segments.map((segment) => decodePercent(segment, 'The path')));
}

function rejecting<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof UrlError ? apiError(40003, error.message) : error;
  }
}
