import { createHash } from 'node:crypto';
import { apiError } from '../../errors/api-error.js';
import type { Action, Call } from '../handlers/checked-request.js';
import { withoutShownOnce } from '../handlers/representation.js';
import type { ApiResponse } from '../request/request.js';
import type { Route } from '../request/route.js';
import type { ItemRecord, Resource } from '../../definition/resource.js';
import type { IdempotencyStore } from './store.js';

/**
 * The action, performed once for all requests with the same `Idempotency-Key`: a repeated POST or special operation gets
 * the first answer. Only answers below 400 are kept; after an error the request may be sent again.
 * @throws 40003 for a key that breaks the grammar; the action throws 42202 if the key came with another body, and
 * 40902 while the first request is still running
 */
export function performOnce(store: IdempotencyStore, call: Call, act: Action): Action {
  const given = call.request.headers['idempotency-key'];
  if (given === undefined || !takesKey(call)) return act;
  if (!/^[\x21-\x7e]{1,255}$/.test(given)) {
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const key = `${call.context.principal?.name ?? ''} ${placeOf(call.route)} ${given}`;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(call.body ?? null))
    .digest('base64url');
  return async (context) => {
    const outcome = await store.perform({ key, fingerprint }, async (transaction) => {
      const now = await act(transaction === undefined ? context : { ...context, transaction });
      return { now, kept: kept(call.route.resource, now) };
    });
    switch (outcome.kind) {
      case 'answered':
        return outcome.response;
      case 'other-request':
        throw apiError(42202, 'Idempotency-Key was used with another body');
      case 'running':
        throw apiError(40902, 'The first request with this Idempotency-Key is still running', {
          'retry-after': '1',
        });
    }
  };
}

/** All other changes have the same effect however often they are sent. */
function takesKey({ request, route }: Call): boolean {
  return request.method === 'POST' || route.kind === 'operation';
}

function placeOf(route: Route): string {
  if (route.kind !== 'operation') return route.path;
  return `${route.path}/${encodeURIComponent(route.id)}/${route.operation.verb}`;
}

function kept(resource: Resource, response: ApiResponse): ApiResponse {
  if (resource.shownOnce.length === 0) return response;
  const bare = (body: unknown): unknown =>
    Array.isArray(body) ? body.map(bare) : withoutShownOnce(resource, body as ItemRecord);
  return { ...response, body: bare(response.body) };
}
