import type { ApiRequest } from './request.js';

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
