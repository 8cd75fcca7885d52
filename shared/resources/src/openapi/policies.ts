import type { ThrottlePolicy } from '@longshore/edge';
import type { Catalog } from '../definition/catalog.js';
import { type Deprecation, deprecationOf } from '../definition/deprecation.js';
import type { Operation, SetOperation } from '../definition/resource.js';
import { scopedCall, type ScopeOf } from '../pipeline/access/access-control.js';
import { findRoute } from '../pipeline/route.js';
import { mapValues } from '../validation/json-schema.js';
import {
  type HeaderObject,
  isReference,
  type OperationObject,
  type PathItem,
  type Reference,
  type ResponseObject,
} from './document-types.js';
import { headerReferences } from './headers.js';
import type { Call, Subject } from './wording.js';

/** OpenAPI security schemes by name. */
export type SecuritySchemes = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Security {
  readonly schemes: SecuritySchemes;
  readonly scopeOf: ScopeOf;
}

/** The default security scheme: bearer tokens in `Authorization`. */
export const bearer: SecuritySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token. Follows RFC 6750.' },
};

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/**
 * Adds the security schemes and the required scope to each operation. The scope appears in the description and in
 * `x-scope`.
 */
export function securedPaths(
  catalog: Catalog,
  { schemes, scopeOf }: Security,
  paths: Readonly<Record<string, PathItem>>,
): Readonly<Record<string, PathItem>> {
  const secured = (path: string, method: string, operation: OperationObject): OperationObject => {
    const route = findRoute(catalog, path.split('/').slice(1));
    const scope = scopeOf(scopedCall(route, method.toUpperCase()));
    const description = `${operation.description}\n\nRequires the scope \`${scope}\`.`;
    return { ...operation, description, 'x-scope': scope, security: requirements(schemes) };
  };
  return mapValues(paths, (item, path) =>
    mapValues(item, (member, name) =>
      methods.has(name) ? secured(path, name, member as OperationObject) : member,
    ),
  );
}

/** Returns one security requirement per scheme. A request has to satisfy only one of them. */
export function requirements(
  schemes: SecuritySchemes,
): readonly Readonly<Record<string, readonly never[]>>[] {
  return Object.keys(schemes).map((name) => ({ [name]: [] }));
}

type Responses = Readonly<Record<string, ResponseObject | Reference>>;

const references = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

/** Returns the header components of a rate limit: `RateLimit` and `RateLimit-Policy`. */
export function rateLimitHeaders({
  perSecond,
  burst,
}: ThrottlePolicy): Readonly<Record<string, HeaderObject>> {
  const window = Math.ceil(burst / perSecond);
  const schema = {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    pattern: String.raw`^"default";[qr]=\d+;[wt]=\d+$`,
  };
  return {
    RateLimit: {
      description:
        'Requests that the caller may send now (`r`), and seconds until the full number is available (`t`).',
      schema,
      example: `"default";r=${burst - 1};t=1`,
    },
    RateLimitPolicy: {
      description: `Each caller may send ${burst} requests at once (\`q\`) and ${perSecond} per second on average; the full number is available again after ${window} s (\`w\`).`,
      schema,
      example: `"default";q=${burst};w=${window}`,
    },
  };
}

/** Adds the rate limit headers to the responses of all paths. */
export function limitedPaths(paths: Readonly<Record<string, PathItem>>): Readonly<Record<string, PathItem>> {
  return mapValues(paths, (item) =>
    mapValues(item, (member) => (isOperation(member) ? limitedOperation(member) : member)),
  );
}

/** Adds the rate limit headers to responses. References to shared responses stay unchanged. */
export function limitedResponses<Response extends ResponseObject | Reference>(
  responses: Readonly<Record<string, Response>>,
): Readonly<Record<string, Response>> {
  return mapValues(responses, (response) =>
    isReference(response) ? response : { ...response, headers: { ...response.headers, ...references } },
  );
}

function limitedOperation(operation: OperationObject): OperationObject {
  return {
    ...operation,
    responses: limitedResponses<ResponseObject | Reference>(operation.responses) satisfies Responses,
  };
}

function isOperation(member: unknown): member is OperationObject {
  return typeof member === 'object' && member !== null && 'responses' in member;
}

export function deprecationAt(
  { resource, parents }: Subject,
  call: Call | Operation | SetOperation,
): Deprecation | undefined {
  const declared =
    typeof call === 'object'
      ? 'answer' in call
        ? undefined
        : call
      : resource.calls.get(call === 'search' ? 'list' : call);
  return deprecationOf(declared, resource, parents);
}

/** Marks an operation as deprecated: adds dates to the description, and headers to the inline responses. */
export function deprecatedOperation(
  operation: OperationObject,
  { since, sunset, instead }: Deprecation,
): OperationObject {
  const headers = headerReferences(
    'Deprecation',
    ...(sunset === undefined ? [] : ['Sunset' as const]),
    'Link',
  );
  const dates = `Deprecated since ${dateOf(since)}${sunset === undefined ? '' : `; stops working on ${dateOf(sunset)}`}.`;
  return {
    ...operation,
    deprecated: true,
    description: [dates, instead, operation.description].filter(Boolean).join(' '),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => [
        status,
        isReference(response) ? response : { ...response, headers: { ...response.headers, ...headers } },
      ]),
    ),
  };
}

function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
