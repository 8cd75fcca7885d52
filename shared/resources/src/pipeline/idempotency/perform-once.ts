import { createHash } from 'node:crypto';
import type { CallContext } from '../../definition/call-context.js';
import type { Resource } from '../../definition/resource.js';
import { apiError } from '../../errors/api-error.js';
import { canonicalJson } from '../../validation/canonical-json.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import type { CheckedRequest, Execute } from '../handlers/checked-request.js';
import { noSuchItem, requireParents } from '../handlers/item-lookup.js';
import { withoutShownOnce } from '../handlers/representation.js';
import type { ApiResponse } from '../request/request.js';
import type { Route } from '../request/route.js';
import type { IdempotencyStore } from './store.js';

/** The header of a response that repeats a recorded one. */
const replayedHeader = { 'idempotent-replayed': 'true' };

/**
 * Returns a step that runs `execute` only once per `Idempotency-Key`, caller and path. A repeated change gets the first
 * response, with `Idempotent-Replayed: true`, as long as the caller may still see the items in it. Errors are not
 * recorded, so a failed request can be repeated with the same key. Returns `execute` unchanged if the request has no key
 * or changes nothing.
 * @throws {ApiError} 40003 for a malformed key. The returned step throws 42202 if the key was used with another method,
 *   query or body, 40902 while the first request is still running, and 40402 if the caller may no longer see an item
 */
export function performOnce(store: IdempotencyStore, checked: CheckedRequest, execute: Execute): Execute {
  const given = checked.request.headers['idempotency-key'];
  if (given === undefined || !changingMethods.has(checked.request.method)) return execute;
  if (!/^[\x21-\x7e]{1,255}$/.test(given)) {
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const key = `${checked.context.principal?.name ?? ''} ${placeOf(checked.route)} ${given}`;
  const { method, query } = checked.request;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([method, query, canonicalJson(checked.body ?? null)]))
    .digest('base64url');
  return async (context) => {
    let performed: ApiResponse | undefined;
    const result = await store.perform({ key, fingerprint }, async (transaction) => {
      performed = await execute(transaction === undefined ? context : { ...context, transaction });
      return { response: performed, record: recordOf(checked.route.resource, performed) };
    });
    switch (result.kind) {
      case 'answered':
        if (result.response === performed) return performed;
        await requireStillVisible(checked, result.response, context);
        return { ...result.response, headers: { ...result.response.headers, ...replayedHeader } };
      case 'other-request':
        throw apiError(42202, 'Idempotency-Key was used with another method, query or body');
      case 'running':
        throw apiError(40902, 'The first request with this Idempotency-Key is still running', {
          'retry-after': '1',
        });
    }
  };
}

/** The methods that accept an `Idempotency-Key`: all that change something. */
const changingMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Checks a recorded response against what the caller's row scope includes now, because the scope can have been narrowed
 * since the first request.
 * @throws {ApiError} 40402 if the caller may no longer see a parent in the path, or an item in the response
 */
async function requireStillVisible(
  { route, context: { principal } }: CheckedRequest,
  { body }: ApiResponse,
  context: CallContext,
): Promise<void> {
  if (principal?.rowScope === undefined) return;
  await requireParents(route.parents, context);
  if (route.kind === 'set-operation') return; // the answer counts items, and shows none
  for (const item of (Array.isArray(body) ? body : [body]) as readonly (ItemRecord | undefined)[]) {
    if (item === undefined || item === null || (route.isVisible?.(item) ?? true)) continue;
    throw noSuchItem(route.resource, String(item[route.resource.key]));
  }
}

function placeOf(route: Route): string {
  if (route.kind === 'collection' || route.kind === 'search') return route.path;
  if (route.kind === 'set-operation') return `${route.path}/${route.operation.verb}`;
  const item = `${route.path}/${encodeURIComponent(route.id)}`;
  return route.kind === 'item' ? item : `${item}/${route.operation.verb}`;
}

function recordOf(resource: Resource, response: ApiResponse): ApiResponse {
  if (resource.shownOnce.length === 0 || response.body === undefined) return response;
  const withoutSecrets = (body: unknown): unknown =>
    Array.isArray(body) ? body.map(withoutSecrets) : withoutShownOnce(resource, body as ItemRecord);
  return { ...response, body: withoutSecrets(response.body) };
}
