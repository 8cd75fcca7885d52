/**
 * Describes an error code of the API. A code is the HTTP status × 100 plus an ordinal. Codes are never reused. The page
 * `{base_url}/errors/{code}` explains the cause and the fix.
 */
export interface CatalogueEntry {
  /** A short name for the error; also the title in `application/problem+json`. */
  readonly title: string;
  /** A sentence for end users, without request data. */
  readonly userMessage: string;
  readonly cause: string;
  readonly fix: string;
}

export const errorCatalogue = {
  40001: {
    title: 'Invalid JSON',
    userMessage: 'The request could not be read.',
    cause: 'The body is not well-formed JSON in UTF-8, or it holds a `__proto__` key.',
    fix: 'Send one JSON value; check quotes, commas and the encoding. The internal message gives the position.',
  },
  40002: {
    title: 'Unknown parameter',
    userMessage: 'The request contains an unknown parameter.',
    cause:
      'A query parameter is neither a filter of this resource nor a common parameter, or does not apply to this method.',
    fix: 'Check spelling and case; the internal message lists the supported parameters.',
  },
  40003: {
    title: 'Invalid parameter value',
    userMessage: 'Part of the request has a value that is not allowed.',
    cause:
      'A query parameter, a header or part of the path is malformed or out of range, or the request is not well-formed HTTP.',
    fix: 'Use a value as described in the internal message.',
  },
  40101: {
    title: 'Credentials missing or invalid',
    userMessage: 'Please sign in.',
    cause: 'The request has no credentials, or they are unknown, invalid or expired.',
    fix: 'Send valid credentials in the `Authorization` header; `WWW-Authenticate` names the scheme.',
  },
  40301: {
    title: 'Not allowed',
    userMessage: 'You are not allowed to do this.',
    cause:
      'The credentials are valid but lack the scope that this call needs, or do not cover this item or resource.',
    fix: 'Use credentials with the scope, or for the item, that the internal message names.',
  },
  40302: {
    title: 'Origin not allowed',
    userMessage: 'This page is not allowed to do this.',
    cause: 'A browser sent the request for a page of another site whose origin is not allowed.',
    fix: 'Call from a page of the same origin, or ask the operators to add the origin to `API_CORS_ORIGINS`.',
  },
  40401: {
    title: 'No such path',
    userMessage: 'The page you asked for does not exist.',
    cause: 'No resource, sub-resource or operation has this path.',
    fix: 'Compare the path with the reference at `/api/v1/docs`.',
  },
  40402: {
    title: 'No such item',
    userMessage: 'The item you asked for does not exist.',
    cause:
      'The path is valid, but no item has this id: it was deleted, belongs to another parent, or is not covered by these credentials.',
    fix: 'Check the id and its parent. The case of an id matters, unless it is a UUID.',
  },
  40403: {
    title: 'Unknown version',
    userMessage: 'This version of the API does not exist.',
    cause: 'The first part of the path after `/api` is not a supported version such as `v1`.',
    fix: 'Use one of the versions that the internal message names.',
  },
  40501: {
    title: 'Method not allowed',
    userMessage: 'This action is not possible here.',
    cause: 'The path exists but does not support this method.',
    fix: 'Use one of the methods in the `Allow` header.',
  },
  40601: {
    title: 'Not acceptable',
    userMessage: 'The response is not available in the requested format.',
    cause: 'The `Accept` header excludes the only available media type, usually `application/json`.',
    fix: 'Accept `application/json` or send no `Accept` header.',
  },
  40801: {
    title: 'Request timeout',
    userMessage: 'The request could not be read.',
    cause: 'The headers did not arrive within 20 s, or the whole request within 120 s.',
    fix: 'Send the request again, without pauses.',
  },
  40901: {
    title: 'Duplicate',
    userMessage: 'This already exists.',
    cause: 'Another item has the same value in a unique field, or was created with the same key.',
    fix: 'Use another value or key, or change the existing item; the internal message names it if possible.',
  },
  40902: {
    title: 'Illegal state',
    userMessage: 'This is not possible in the current state.',
    cause: 'The state of the item does not allow the operation, or the same request is still running.',
    fix: 'Read the item and choose an operation that its state allows.',
  },
  40903: {
    title: 'Still referenced',
    userMessage: 'This is still in use.',
    cause: 'Other items refer to this one.',
    fix: 'Delete or change the referring items first.',
  },
  41201: {
    title: 'Precondition failed',
    userMessage: 'Someone else has changed this in the meantime.',
    cause:
      'The `ETag` in `If-Match` is not that of the current item, or is weak (`W/`), which never matches; or `If-None-Match` matches the current item.',
    fix: 'Read the item again, apply the change to its current version, and send the new `ETag`.',
  },
  41301: {
    title: 'Too large',
    userMessage: 'The request is too large.',
    cause: 'The body exceeds the limit of the service (1 MiB unless configured).',
    fix: 'Split the request; the internal message gives the limit.',
  },
  41401: {
    title: 'URL too long',
    userMessage: 'The request is too large.',
    cause: 'The path and the query together exceed 12 000 characters.',
    fix: 'Shorten the query: search for fewer values at once.',
  },
  41501: {
    title: 'Unsupported media type',
    userMessage: 'The request is in an unsupported format.',
    cause:
      'The `Content-Type` (or `Content-Encoding`) of the body is missing or not supported for this method.',
    fix: 'Send `application/json`; for PATCH also `application/merge-patch+json`, see `Accept-Patch`.',
  },
  41701: {
    title: 'Expectation failed',
    userMessage: 'The request could not be read.',
    cause: 'The `Expect` header is something other than `100-continue`.',
    fix: 'Send no `Expect` header.',
  },
  42101: {
    title: 'Wrong host',
    userMessage: 'This address is not served here.',
    cause: 'The `Host` header names a host that this service does not serve.',
    fix: 'Use the address that the operators gave you, or ask them to add the host to `HTTP_ALLOWED_HOSTS`.',
  },
  42201: {
    title: 'Missing field',
    userMessage: 'A required field is missing.',
    cause: 'The body lacks a required field.',
    fix: 'Add the field that the internal message names.',
  },
  42202: {
    title: 'Invalid field',
    userMessage: 'A field has a value that is not allowed.',
    cause:
      'A field has the wrong type or format, is out of range, refers to an item that does not exist, or may not be changed by clients.',
    fix: 'Correct the field that the internal message names.',
  },
  42203: {
    title: 'Unknown field',
    userMessage: 'The request contains an unknown field.',
    cause: 'The body has a field that this resource does not have.',
    fix: 'Remove the field, or check its spelling and case.',
  },
  42801: {
    title: 'Precondition required',
    userMessage: 'Please reload before you change this.',
    cause: 'This resource accepts changes only with an `If-Match` header.',
    fix: 'Read the item and send its `ETag` in `If-Match`.',
  },
  42901: {
    title: 'Too many requests',
    userMessage: 'Too many requests. Please try again in a moment.',
    cause: 'The caller exceeds its rate limit, or the server cannot take on more work at the moment.',
    fix: 'Wait for the number of seconds in `Retry-After`, then try again.',
  },
  42902: {
    title: 'Too many open calls',
    userMessage: 'Too many requests. Please try again in a moment.',
    cause: 'The caller has reached its limit of open event streams and calls with `?wait`.',
    fix: 'Close some, share one stream between listeners, or wait for the number of seconds in `Retry-After`.',
  },
  43101: {
    title: 'Headers too large',
    userMessage: 'The request is too large.',
    cause: 'The URL and the headers together exceed 16 KiB.',
    fix: 'Send fewer or shorter headers, such as cookies that the API does not need.',
  },
  50001: {
    title: 'Unexpected error',
    userMessage: 'Something went wrong on our side.',
    cause: 'A bug or an unforeseen condition in the service. It is logged with the incident id.',
    fix: 'Try again. If the error persists, give the operators the incident id in the internal message.',
  },
  50301: {
    title: 'Storage unreachable',
    userMessage: 'The service is not available at the moment. Please try again shortly.',
    cause: 'The database does not respond or refuses connections.',
    fix: 'Wait for the number of seconds in `Retry-After`, then try again.',
  },
  50302: {
    title: 'Issuer unreachable',
    userMessage: 'The service is not available at the moment. Please try again shortly.',
    cause: 'The keys to verify JSON Web Tokens cannot be read from their issuer.',
    fix: 'Wait for the number of seconds in `Retry-After`, then try again. If the error persists, tell the operators.',
  },
  50303: {
    title: 'Service at capacity',
    userMessage: 'The service is busy at the moment. Please try again shortly.',
    cause: 'The service has reached its limit of connections, event streams or calls with `?wait`.',
    fix: 'Wait for the number of seconds in `Retry-After`, then try again. If the error persists, the operators can raise the limit or add a process.',
  },
  50304: {
    title: 'Read timeout',
    userMessage: 'This takes too long at the moment. Please narrow your request or try again shortly.',
    cause: 'A read did not get a database connection in time, or exceeded its time limit.',
    fix: 'Request less: fewer items, `Prefer: count=none`, more filters, cursors instead of `offset`. Otherwise wait for the number of seconds in `Retry-After`.',
  },
} as const satisfies Record<number, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The error codes that have a given HTTP status. */
export type CodeOf<Status extends number> =
  Extract<`${ErrorCode}`, `${Status}${string}`> extends `${infer Code extends number}` ? Code : never;

export function statusOf(code: ErrorCode): number {
  return Math.floor(code / 100);
}

/** Parses an error code, such as the last segment of `/errors/40402`. Returns undefined if there is no such code. */
export function parseErrorCode(text: string): ErrorCode | undefined {
  return /^\d{5}$/.test(text) && Object.hasOwn(errorCatalogue, text)
    ? (Number(text) as ErrorCode)
    : undefined;
}
