import { shorten } from '@longshore/edge';
import contentType from 'content-type';
import Negotiator from 'negotiator';
import { apiError } from '../../errors/api-error.js';
import type { CollectionQuery } from '../../query/collection-query.js';
import type { ApiRequest } from './request.js';

export const json = 'application/json';
const mergePatch = 'application/merge-patch+json';

export const eventStream = 'text/event-stream';
export const problemJson = 'application/problem+json';

/** The media types that PATCH accepts, as the value of the `Accept-Patch` header. */
export const patchTypes = `${mergePatch}, ${json}`;

/**
 * Returns the type that `Accept` prefers; the first one if there is no header. Returns undefined if it allows none. All
 * types are sent in UTF-8, so `Accept` may name that charset.
 */
export function preferredType(accept: string | undefined, types: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '') return types[0];
  const spellings = types.flatMap((type) => [type, `${type}; charset=utf-8`]);
  return new Negotiator({ headers: { accept } }).mediaType(spellings)?.replace('; charset=utf-8', '');
}

/**
 * Checks that `Accept` allows JSON or problem+json or, for a stream, `text/event-stream`. Items are sent as JSON even
 * if the caller accepts only problem+json.
 *
 * @throws {ApiError} 40601
 */
export function requireAcceptable(request: ApiRequest, isStream: boolean): void {
  const { accept } = request.headers;
  const available = isStream ? [eventStream] : [json, problemJson];
  if (preferredType(accept, available) === undefined)
    throw apiError(40601, `Only ${available[0]} is available, not ${shorten(accept ?? '', 200)}`);
}

/**
 * Checks that the `Content-Type` is JSON in UTF-8 or, for PATCH, a JSON merge patch. The `Content-Type` of a request
 * without a body does not matter.
 * @throws {ApiError} 41501
 */
export function requireMediaType(request: ApiRequest): void {
  if (!hasBody(request)) return;
  const type = request.headers['content-type'];
  const { essence, charset } = parsed(type ?? '');
  const allowed = request.method === 'PATCH' ? [json, mergePatch] : [json];
  if (!allowed.includes(essence) || !/^utf-?8$/i.test(charset)) {
    const actual = type === undefined ? 'but has no Content-Type' : `not ${shorten(type, 200)}`;
    throw apiError(
      41501,
      `The body must be ${allowed.join(' or ')} in UTF-8, ${actual}`,
      request.method === 'PATCH' ? { 'accept-patch': patchTypes } : { accept: json },
    );
  }
}

/** Parses a `Content-Type` (RFC 9110, section 8.3.1). The essence is empty if the header is malformed. */
function parsed(header: string): { readonly essence: string; readonly charset: string } {
  try {
    const { type, parameters } = contentType.parse(header);
    return { essence: type, charset: parameters['charset'] ?? 'utf-8' };
  } catch {
    return { essence: '', charset: '' };
  }
}

/** Returns whether the request announces a body, even an empty one in chunks. */
function hasBody(request: ApiRequest): boolean {
  return (
    (request.headers['content-length'] ?? '0') !== '0' || request.headers['transfer-encoding'] !== undefined
  );
}

/** The content codings that the API can send, best compression first. */
const encodings = ['br', 'gzip', 'identity'] as const;

/**
 * Returns the content coding that compresses best among those that the caller accepts. Ignores the order of
 * `Accept-Encoding`, because browsers list gzip before Brotli without preferring it.
 */
export function smallestEncoding(acceptEncoding: string): 'br' | 'gzip' | 'identity' {
  if (acceptEncoding === '') return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
    ...encodings,
  ]);
  return encodings.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}

/** The supported preferences in the `Prefer` header (RFC 7240). Other preferences are ignored. */
export interface Preferences {
  readonly count: CollectionQuery['count'];
  readonly respondAsync: boolean;
}

export function parsePrefer(header: string | undefined): Preferences {
  const preferences = new Set(
    (header ?? '')
      .toLowerCase()
      .split(/[,;]/)
      .map((part) => part.replace(/[\s"]/g, '')),
  );
  const count = preferences.has('count=exact') ? 'exact' : preferences.has('count=none') ? 'none' : 'default';
  return { count, respondAsync: preferences.has('respond-async') };
}
