/**
 * Every error code of the API, in one closed set. A code is the HTTP status × 100 plus an ordinal; it is never
 * reused. Each has a page at `{base_url}/errors/{code}` built from the cause and the fix told here.
 */
export interface CatalogueEntry {
  /** A few words that name the error; also the title in `application/problem+json`. */
  readonly title: string;
  /** A sentence fit for the screen of an end user. Never holds request data. */
  readonly userMessage: string;
  readonly cause: string;
  readonly fix: string;
}

export const errorCatalogue = {
  40001: {
    title: 'Invalid JSON',
    userMessage: 'The request could not be read.',
    cause: 'The body is not well-formed JSON in UTF-8, or it holds a `__proto__` key.',
    fix: 'Send one JSON value; check quotes, commas and the encoding. The internal message tells the position.',
  },
  40002: {
    title: 'Unknown parameter',
    userMessage: 'The request contains a parameter that is not known here.',
    cause:
      'A query parameter is neither a filter of this resource nor one of the common parameters, or it has no meaning for this method.',
    fix: 'Check the spelling and the case; the internal message lists the parameters that this resource knows.',
  },
  40003: {
    title: 'Bad parameter value',
    userMessage: 'A part of the request has a value that is not allowed.',
    cause:
      'A query parameter, a header or a part of the path breaks its grammar or its bounds, or the request is not well-formed HTTP.',
    fix: 'Use a value of the kind that the internal message names.',
  },
  40101: {
    title: 'Credentials missing or wrong',
    userMessage: 'Please sign in.',
    cause: 'The request carries no credentials, or credentials that are unknown, wrong or expired.',
    fix: 'Send valid credentials in the `Authorization` header; `WWW-Authenticate` names the scheme.',
  },
  40301: {
    title: 'Not allowed',
    userMessage: 'You are not allowed to do this.',
    cause: 'The credentials are valid but do not hold the scope that this call needs.',
    fix: 'Use credentials with the scope that the internal message names.',
  },
  40302: {
    title: 'Foreign site',
    userMessage: 'This page may not do this.',
    cause:
      'A browser sent the request for a page of another site, and the origin of that page is not among those that may call.',
    fix: 'Call from a page of the same origin, or have the operators add the origin to `API_CORS_ORIGINS`.',
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
    cause: 'The path is right but no item has this id, it was deleted, or it belongs to another parent.',
    fix: 'Check the id, and the parent if there is one; ids keep their case.',
  },
  40403: {
    title: 'Unknown version',
    userMessage: 'This version of the interface does not exist.',
    cause:
      'The first part of the path after `/api` is not a supported version. Versions are `v` and an ordinal number.',
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
    userMessage: 'The answer is not available in the form you asked for.',
    cause: 'The `Accept` header excludes `application/json`, the only form in which resources are served.',
    fix: 'Accept `application/json` or send no `Accept` header.',
  },
  40901: {
    title: 'Duplicate',
    userMessage: 'This already exists.',
    cause:
      'Another item has the same value in a field whose values are unique, or was made before with the same key.',
    fix: 'Use another value or key, or change the existing item; the internal message names it where it can.',
  },
  40902: {
    title: 'Illegal state',
    userMessage: 'This is not possible in the present state.',
    cause:
      'The item is in a state from which the operation is not allowed, or the same request is still running.',
    fix: 'Read the item, look at its state, and choose an operation that is allowed from there.',
  },
  40903: {
    title: 'Still referenced',
    userMessage: 'This is still in use.',
    cause: 'Other items refer to this one.',
    fix: 'Delete or change the referring items first.',
  },
  41201: {
    title: 'Stale ETag',
    userMessage: 'Somebody else has changed this in the meantime.',
    cause:
      'The `ETag` sent in `If-Match` is not that of the present item, or is a weak one (`W/`), which never matches; or `If-None-Match` names what is there.',
    fix: 'Read the item again, apply the change to what you find, and send its new `ETag`.',
  },
  41301: {
    title: 'Too large',
    userMessage: 'The request is too large.',
    cause: 'The body exceeds the limit of the service (1 MiB unless configured).',
    fix: 'Send less in one request; the limit is in the internal message.',
  },
  41501: {
    title: 'Unsupported media type',
    userMessage: 'The request is in a form that is not understood.',
    cause:
      'The `Content-Type` (or `Content-Encoding`) of the body is missing or not supported for this method.',
    fix: 'Send `application/json`; for PATCH also `application/merge-patch+json`, see `Accept-Patch`.',
  },
  42101: {
    title: 'Wrong host',
    userMessage: 'This address is not served here.',
    cause: 'The `Host` header names a host that the service does not answer for.',
    fix: 'Use the address that the operators gave, or have them add the host to `HTTP_ALLOWED_HOSTS`.',
  },
  42201: {
    title: 'Missing field',
    userMessage: 'A required field is missing.',
    cause: 'The body lacks a field that is required.',
    fix: 'Add the field that the internal message names.',
  },
  42202: {
    title: 'Invalid field',
    userMessage: 'A field has a value that is not allowed.',
    cause:
      'A field has the wrong type, breaks a bound or a format, refers to an item that does not exist, or may not be changed by clients.',
    fix: 'Correct the field that the internal message names.',
  },
  42203: {
    title: 'Unknown field',
    userMessage: 'The request contains a field that is not known here.',
    cause: 'The body has a field that this resource does not know.',
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
    cause: 'The caller exceeds its share of requests.',
    fix: 'Wait for the seconds in `Retry-After`, then try again.',
  },
  42902: {
    title: 'Too many open calls',
    userMessage: 'Too many requests. Please try again in a moment.',
    cause: 'The caller has as many streams of events and calls with `?wait` open as one caller may have.',
    fix: 'Close some, share one stream among those who listen, or wait for the seconds in `Retry-After`.',
  },
  50001: {
    title: 'Unexpected error',
    userMessage: 'Something went wrong on our side.',
    cause: 'A defect or an unforeseen condition in the service. It is logged under the incident id.',
    fix: 'Try again; if it stays, tell the operators the incident id of the internal message.',
  },
  50301: {
    title: 'Storage unreachable',
    userMessage: 'The service is not available at the moment. Please try again shortly.',
    cause: 'The database does not answer or refuses connections.',
    fix: 'Wait for the seconds in `Retry-After`, then try again.',
  },
  50302: {
    title: 'Issuer unreachable',
    userMessage: 'The service is not available at the moment. Please try again shortly.',
    cause: 'The keys with which JSON Web Tokens are checked cannot be read from their issuer.',
    fix: 'Wait for the seconds in `Retry-After`, then try again; if it stays, tell the operators.',
  },
  50303: {
    title: 'No room',
    userMessage: 'The service is busy at the moment. Please try again shortly.',
    cause: 'The service holds as many connections, streams of events or calls with `?wait` as it may hold.',
    fix: 'Wait for the seconds in `Retry-After`, then try again; if it stays, let the operators raise the limit or add a process.',
  },
  50304: {
    title: 'Read took too long',
    userMessage: 'This takes too long at the moment. Please ask for less, or try again shortly.',
    cause:
      'A read did not get a connection to the database in time, or was not finished in the time that a read may take.',
    fix: 'Ask for less: fewer items, `Prefer: count=none`, more filters, cursors instead of `offset`. Otherwise wait for the seconds in `Retry-After`.',
  },
} as const satisfies Record<number, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The HTTP status of a code. */
export function statusOf(code: ErrorCode): number {
  return Math.floor(code / 100);
}

/** The code for text such as the last segment of `/errors/40402`; undefined if the catalogue has none. */
export function parseErrorCode(text: string): ErrorCode | undefined {
  return /^\d{5}$/.test(text) && Object.hasOwn(errorCatalogue, text)
    ? (Number(text) as ErrorCode)
    : undefined;
}
