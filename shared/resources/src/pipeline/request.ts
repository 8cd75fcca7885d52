import { shorten } from '@longshore/edge';
import contentType from 'content-type';
import Negotiator from 'negotiator';
import { apiError } from '../errors/api-error.js';
import type { CollectionQuery } from '../query/collection-query.js';
import { requireNoParameters } from '../query/query-parser.js';

/** A request, independent of any web framework. */
export interface ApiRequest {
  /** The method in upper case. */
  readonly method: string;
  /** The raw path, still percent-encoded. */
  readonly path: string;
  /** The raw query string without `?`; empty if there is none. */
  readonly query: string;
  /** Headers by lower-case name. Repeated headers are joined as Node.js joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  /** The caller's network address. */
  readonly address: string;
  /** Aborts when the caller disconnects or the response has been sent. */
  readonly signal: AbortSignal;
  /**
   * Reads and parses the JSON body. Can be called only once. Resolves to undefined if the body is empty.
   * @throws {ApiError} 40001 if the body is malformed, 41301 if it is too large, 41501 if its encoding is not supported
   */
  readonly readBody: () => Promise<unknown>;
}

export interface ApiResponse {
  readonly status: number;
  /** Headers by lower-case name. `content-type` defaults to `application/json; charset=utf-8`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Strings, streams and buffers are sent unchanged, other values as JSON. If undefined, the response has no body. With
   * status 304, this is the body of the 200 that the response stands for; it is not sent.
   */
  readonly body?: unknown;
  /** The pattern of the route, such as `/api/v1/jobs/{id}`, not of a path that does not exist. For metrics and logs. */
  readonly route?: string;
}

const exposedHeaders = [
  'Accept-Patch',
  'Allow',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total-Count',
].join(', ');

const acceptedHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
  'traceparent',
  'X-Api-Key',
  'X-Request-Id',
].join(', ');

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * Returns the headers that every response has: the request id, the security headers that OWASP recommends for APIs, and
 * CORS headers for allowed origins.
 */
export function commonHeaders(request: ApiRequest, origins: readonly string[]): Record<string, string> {
  return {
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, no-cache',
    'strict-transport-security': 'max-age=31536000',
    vary: 'Accept, Accept-Encoding, Authorization, Origin, Prefer, X-Api-Key',
    ...corsHeaders(request, origins),
  };
}

/** Returns whether the request is a CORS preflight (WHATWG Fetch). */
export function isPreflight({ method, headers }: ApiRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/**
 * Returns the CORS headers; none if the origin is not allowed. Cookies are never allowed, because callers authenticate
 * with a header.
 */
function corsHeaders(request: ApiRequest, origins: readonly string[]): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
    ...(isPreflight(request) && {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': acceptedHeaders,
      'access-control-max-age': '600',
    }),
  };
}

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

/**
 * Serves a page to GET and HEAD without query parameters, and answers OPTIONS.
 *
 * @throws {ApiError} 40501 for other methods, 40002 for parameters
 */
export function readOnly(
  request: ApiRequest,
  page: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>,
): ApiResponse | Promise<ApiResponse> {
  const { method, query } = request;
  const allow = 'GET, HEAD, OPTIONS';
  if (method === 'OPTIONS') return { status: 204, headers: { allow } };
  if (method !== 'GET' && method !== 'HEAD')
    throw apiError(40501, `${method} is not possible here; possible: ${allow}`, { allow });
  requireNoParameters(query);
  return page(request);
}
