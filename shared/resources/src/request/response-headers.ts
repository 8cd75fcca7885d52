import type { ApiRequest } from './request.js';

/** Which origins may call from a browser: a list, or `*` for all. */
export type CorsOrigins = '*' | readonly string[];

const exposed = [
  'Accept-Patch',
  'Allow',
  'ETag',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total-Count',
].join(', ');

const accepted = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Prefer',
  'X-Api-Key',
  'X-Request-Id',
].join(', ');

/** The headers of every answer: request id, security (OWASP's list for APIs), and CORS for allowed origins. */
export function commonHeaders(request: ApiRequest, origins: CorsOrigins): Record<string, string> {
  return {
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, no-cache',
    'strict-transport-security': 'max-age=31536000',
    vary: 'Accept, Accept-Encoding, Authorization, Origin, Prefer, X-Api-Key',
    ...corsHeaders(request, origins),
  };
}

/** What a preflight request asks besides, given the methods of the route. */
export function preflightHeaders(request: ApiRequest, allow: string): Record<string, string> {
  if (request.headers['access-control-request-method'] === undefined) return {};
  return {
    'access-control-allow-methods': allow,
    'access-control-allow-headers': accepted,
    'access-control-max-age': '600',
  };
}

function corsHeaders(request: ApiRequest, origins: CorsOrigins): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return {};
  return {
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': exposed,
  };
}
