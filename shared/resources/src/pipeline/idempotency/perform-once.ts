import { createHash } from 'node:crypto';
import type { Resource } from '../../definition/resource.js';
import { apiError } from '../../errors/api-error.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import type { CheckedRequest, Execute } from '../handlers/checked-request.js';
import { withoutShownOnce } from '../handlers/representation.js';
import type { ApiResponse } from '../request/request.js';
import type { Route } from '../request/route.js';
import type { IdempotencyStore } from './store.js';

/** The header of a response that repeats a recorded one. */
const replayedHeader = { 'idempotent-replayed': 'true' };

/**
 * Returns a step that runs `execute` only once per `Idempotency-Key`, caller and path. A repeated POST or special
 * operation gets the first response, with `Idempotent-Replayed: true`. Errors are not recorded, so a failed request can
 * be repeated with the same key. Returns `execute` unchanged if the request has no key or does not accept one.
 * @throws {ApiError} 40003 for a malformed key. The returned step throws 42202 if the key was used with another body,
 *   and 40902 while the first request is still running
 */
export function performOnce(store: IdempotencyStore, checked: CheckedRequest, execute: Execute): Execute {
  const given = checked.request.headers['idempotency-key'];
  if (given === undefined || !takesKey(checked)) return execute;
  if (!/^[\x21-\x7e]{1,255}$/.test(given)) {
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const key = `${checked.context.principal?.name ?? ''} ${placeOf(checked.route)} ${given}`;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(checked.body ?? null))
    .update(checked.route.kind === 'set-operation' ? checked.request.query : '')
    .digest('base64url');
  return async (context) => {
    let performed: ApiResponse | undefined;
    const result = await store.perform({ key, fingerprint }, async (transaction) => {
      performed = await execute(transaction === undefined ? context : { ...context, transaction });
      return { response: performed, record: recordOf(checked.route.resource, performed) };
    });
    switch (result.kind) {
      case 'answered':
        return result.response === performed ? performed : replayed(result.response);
      case 'other-request':
        throw apiError(42202, 'Idempotency-Key was used with another body');
      case 'running':
        throw apiError(40902, 'The first request with this Idempotency-Key is still running', {
          'retry-after': '1',
        });
    }
  };
}

function replayed(response: ApiResponse): ApiResponse {
  return { ...response, headers: { ...response.headers, ...replayedHeader } };
}

/**
 * Returns whether the request accepts an `Idempotency-Key`. Only POST and special operations do, because the other
 * methods are idempotent without a key.
 */
function takesKey({ request, route }: CheckedRequest): boolean {
  return request.method === 'POST' || 'operation' in route;
}

function placeOf(route: Route): string {
  if (route.kind === 'set-operation') return `${route.path}/${route.operation.verb}`;
  if (route.kind !== 'operation') return route.path;
  return `${route.path}/${encodeURIComponent(route.id)}/${route.operation.verb}`;
}

function recordOf(resource: Resource, response: ApiResponse): ApiResponse {
  if (resource.shownOnce.length === 0) return response;
  const withoutSecrets = (body: unknown): unknown =>
    Array.isArray(body) ? body.map(withoutSecrets) : withoutShownOnce(resource, body as ItemRecord);
  return { ...response, body: withoutSecrets(response.body) };
}
