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
