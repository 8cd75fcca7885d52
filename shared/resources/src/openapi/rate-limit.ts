import type { ThrottlePolicy } from '@longshore/edge';
import { mapValues } from '../validation/map-values.js';
import {
  type HeaderObject,
  isReference,
  type OperationObject,
  type PathItem,
  type Reference,
  type ResponseObject,
} from './document-types.js';

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
