import type { HeaderObject, Reference } from './document-types.js';

const text = (maxLength: number): HeaderObject['schema'] => ({
  type: 'string',
  minLength: 0,
  maxLength,
  pattern: String.raw`^[\x20-\x7e]*$`,
});

/** Response headers, by component name in the OpenAPI document. */
export const responseHeaders = {
  XRequestId: {
    description: 'Identifies the request in the logs; taken from the request if present.',
    schema: text(128),
    example: '6f1c2f8e-3b0a-4c55-8f0e-0b6f6a1f1c11',
  },
  AccessControlAllowOrigin: {
    description: 'The calling origin, if it is allowed.',
    schema: text(256),
    example: 'https://app.example.com',
  },
  ETag: {
    description: 'The version of the item, for If-Match and If-None-Match.',
    schema: text(64),
    example: '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
  },
  Location: {
    description: 'The URL of the result.',
    schema: text(2048),
    example: 'https://api.example.com/api/v1/items/1',
  },
  Link: {
    description: 'Links to the first, previous, next and last page, if they exist (RFC 8288).',
    schema: { type: 'string', minLength: 0, pattern: String.raw`^[\x20-\x7e]*$` },
    example: '<https://api.example.com/api/v1/items?limit=20&offset=0>; rel="first"',
  },
  XTotalCount: {
    description: 'The number of matching items on all pages. Absent with `Prefer: count=none`.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 42,
  },
  PreferenceApplied: {
    description:
      'The preferences that were applied; `count=estimated` if the count is an estimate, `search=partial` if a search stopped early, so that further items may match, `sort=partial` if only some of the items were compared, so that others may belong before these.',
    schema: text(64),
    example: 'count=estimated',
  },
  IdempotentReplayed: {
    description: '`true` if this repeats the response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  Allow: {
    description: 'The supported methods.',
    schema: text(64),
    example: 'GET, HEAD, OPTIONS',
  },
  AcceptPatch: {
    description: 'The media types of a PATCH body.',
    schema: text(128),
    example: 'application/merge-patch+json, application/json',
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 3600 },
    example: 2,
  },
  Deprecation: {
    description: 'When the call became, or will become, deprecated, in seconds since 1970 (RFC 9745).',
    schema: { type: 'string', minLength: 2, maxLength: 20, pattern: String.raw`^@-?\d+$` },
    example: '@1767225600',
  },
  Sunset: {
    description: 'When the call stops working (RFC 8594).',
    schema: text(29),
    example: 'Thu, 01 Jan 2026 00:00:00 GMT',
  },
  WWWAuthenticate: {
    description: 'The authentication scheme, and the error in the credentials (RFC 6750).',
    schema: text(512),
    example: 'Bearer realm="api"',
  },
} as const satisfies Record<string, HeaderObject>;

const names: Readonly<Record<keyof typeof responseHeaders, string>> = {
  XRequestId: 'X-Request-Id',
  AccessControlAllowOrigin: 'Access-Control-Allow-Origin',
  ETag: 'ETag',
  Location: 'Location',
  Link: 'Link',
  XTotalCount: 'X-Total-Count',
  PreferenceApplied: 'Preference-Applied',
  IdempotentReplayed: 'Idempotent-Replayed',
  Allow: 'Allow',
  AcceptPatch: 'Accept-Patch',
  RetryAfter: 'Retry-After',
  Deprecation: 'Deprecation',
  Sunset: 'Sunset',
  WWWAuthenticate: 'WWW-Authenticate',
};

/**
 * Returns references to the given headers, by HTTP name. Always includes `X-Request-Id` and
 * `Access-Control-Allow-Origin`.
 */
export function headerReferences(
  ...keys: (keyof typeof responseHeaders)[]
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    ['XRequestId' as const, 'AccessControlAllowOrigin' as const, ...keys].map((key) => [
      names[key],
      { $ref: `#/components/headers/${key}` },
    ]),
  );
}
