import { createHash } from 'node:crypto';
import { apiError } from '../errors/api-error.js';
import type { Action, Call } from '../handlers/call.js';
import { withoutShownOnce } from '../handlers/representation.js';
import type { ApiResponse } from '../request/request.js';
import type { ItemRecord, Resource } from '../resource/resource.js';
import type { IdempotencyStore } from './store.js';

/**
 * The action, performed once for all requests with the same `Idempotency-Key`: a repeated POST gets the first answer.
 * Only answers below 400 are kept; after an error the request may be sent again.
 * @throws 40003 for a key that breaks the grammar; the action throws 42202 if the key came with another body, and
 * 40902 while the first request is still running
 */
export function performOnce(store: IdempotencyStore, call: Call, act: Action): Action {
  const given = call.request.headers['idempotency-key'];
  if (given === undefined || call.request.method !== 'POST') return act;
  if (!/^[\x21-\x7e]{1,255}$/.test(given)) {
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const key = `${call.context.principal?.name ?? ''} ${call.route.path} ${given}`;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(call.body ?? null))
    .digest('base64url');
  return async () => {
    const reservation = await store.begin(key, fingerprint);
    switch (reservation.kind) {
      case 'finished':
        return reservation.response;
      case 'other-request':
        throw apiError(42202, 'Idempotency-Key was used with another body');
      case 'running':
        throw apiError(40902, 'The first request with this Idempotency-Key is still running', {
          'retry-after': '1',
        });
      case 'begun':
        return performAndKeep(store, key, act, call.route.resource);
    }
  };
}

async function performAndKeep(
  store: IdempotencyStore,
  key: string,
  act: Action,
  resource: Resource,
): Promise<ApiResponse> {
  let response: ApiResponse;
  try {
    response = await act();
  } catch (error) {
    await store.release(key);
    throw error;
  }
  await store.finish(key, kept(resource, response));
  return response;
}

function kept(resource: Resource, response: ApiResponse): ApiResponse {
  if (resource.shownOnce.length === 0) return response;
  const bare = (body: unknown): unknown =>
    Array.isArray(body) ? body.map(bare) : withoutShownOnce(resource, body as ItemRecord);
  return { ...response, body: bare(response.body) };
}
