import { type Deprecation, firstDeprecation } from '../definition/deprecation.js';
import type { Operation, SetOperation } from '../definition/resource.js';
import { isReference, type OperationObject } from './document-types.js';
import { headerReferences } from './headers.js';
import type { Call, Subject } from './wording.js';

/**
 * Returns the deprecation that applies to a call: the call's, else the resource's, else the nearest deprecated
 * parent's. Returns undefined if there is none.
 */
export function deprecationAt(
  { resource, parents }: Subject,
  call: Call | Operation | SetOperation,
): Deprecation | undefined {
  const own =
    typeof call === 'object'
      ? 'answer' in call
        ? undefined
        : call
      : resource.calls.get(call === 'search' ? 'list' : call);
  return firstDeprecation([own, resource, ...parents.toReversed()]);
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
