import type { RateLimitPolicy } from '../pipeline/access/rate-limit.js';
import { mapValues } from '../validation/map-values.js';
import type { HeaderObject, OperationObject, PathItem, Reference, ResponseObject } from './document-types.js';

type Responses = Readonly<Record<string, ResponseObject | Reference>>;

const references = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

/** The headers that tell a caller how many requests are left. */
export function rateLimitHeaders({
  perSecond,
  burst,
}: RateLimitPolicy): Readonly<Record<string, HeaderObject>> {
  const window = Math.ceil(burst / perSecond);
  const schema = { type: 'string', maxLength: 100, pattern: String.raw`^"default";[qr]=\d+;[wt]=\d+$` };
  return {
    RateLimit: {
      description:
        'Requests that the caller may send now (`r`), and after how many seconds all of them (`t`).',
      schema,
      example: `"default";r=${burst - 1};t=1`,
    },
    RateLimitPolicy: {
      description: `What each caller may send: ${burst} requests at once (\`q\`), and ${perSecond} a second on the long run; an empty share is full again after ${window} s (\`w\`).`,
      schema,
      example: `"default";q=${burst};w=${window}`,
    },
  };
}

/** Paths whose answers have these headers. */
export function limitedPaths(paths: Readonly<Record<string, PathItem>>): Readonly<Record<string, PathItem>> {
  return mapValues(paths, (item) =>
    mapValues(item, (member) => (isOperation(member) ? limitedOperation(member) : member)),
  );
}

/** Answers that have these headers; a reference is left as it is. */
export function limitedResponses<Response extends ResponseObject | Reference>(
  responses: Readonly<Record<string, Response>>,
): Readonly<Record<string, Response>> {
  return mapValues(responses, (response) =>
    '$ref' in response ? response : { ...response, headers: { ...response.headers, ...references } },
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
