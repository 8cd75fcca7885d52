import { createHash } from 'node:crypto';
import type { Transaction } from '../database/database.js';
import type { CallContext } from '../definition/context.js';
import type { Resource } from '../definition/resource.js';
import { apiError } from '../errors/api-error.js';
import type { ItemRecord } from '../validation/json-schema.js';
import type { CheckedRequest, Execute } from './handlers/checked-request.js';
import { noSuchItem, requireParents } from './handlers/item-lookup.js';
import { canonicalJson, withoutShownOnce } from './handlers/representation.js';
import type { ApiResponse } from './request.js';
import type { Route } from './route.js';

/** How long an idempotency record is kept, in milliseconds: 24 hours. */
export const recordTtlMs = 24 * 60 * 60 * 1000;

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** Identifies the caller, the path, and the `Idempotency-Key` that the caller sent. */
  readonly key: string;
  /** A digest of the method, the query and the body. */
  readonly fingerprint: string;
}

/** The response to a keyed request, and the response to record. */
export interface KeyedResponse {
  readonly response: ApiResponse;
  /** What repeated requests get: the response without the fields that are shown only once. */
  readonly record: ApiResponse;
}

export type KeyedResult =
  /** The request was performed, now or earlier. */
  | { readonly kind: 'answered'; readonly response: ApiResponse }
  /** Another request with this key is in progress. */
  | { readonly kind: 'running' }
  /** The key was used with another method, query or body. */
  | { readonly kind: 'other-request' };

/** Keeps idempotency records for 24 hours. A record is the response to a request with an `Idempotency-Key`. */
export interface IdempotencyStore {
  /**
   * Returns the recorded response to a request. If there is none, performs the request and records the response. Of
   * several concurrent calls with the same key, only one runs `act`. If `act` throws, records nothing and rejects with
   * the same error.
   *
   * @param act receives the transaction that writes the record, if the store has transactions. The changes that `act`
   *   makes in the transaction are committed together with the record
   */
  perform(
    request: KeyedRequest,
    act: (transaction: Transaction | undefined) => Promise<KeyedResponse>,
  ): Promise<KeyedResult>;
}

interface Entry {
  readonly fingerprint: string;
  readonly response: ApiResponse;
  readonly expiresAt: number;
}

/**
 * Creates an idempotency store for a single process. A restart deletes all records.
 *
 * @param now returns the current time in milliseconds since 1970; default: this machine's clock
 */
export function memoryIdempotencyStore(now: () => number = Date.now): IdempotencyStore {
  /** Records by key, oldest first. */
  const entries = new Map<string, Entry>();
  /** The fingerprints of requests in progress, by key. */
  const running = new Map<string, string>();

  const deleteExpired = (): void => {
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt > now()) return;
      entries.delete(key);
    }
  };

  return {
    async perform({ key, fingerprint }, act) {
      deleteExpired();
      const entry = entries.get(key);
      const knownFingerprint = entry?.fingerprint ?? running.get(key);
      if (knownFingerprint !== undefined && knownFingerprint !== fingerprint)
        return { kind: 'other-request' };
      if (entry !== undefined) return { kind: 'answered', response: entry.response };
      if (knownFingerprint !== undefined) return { kind: 'running' };
      running.set(key, fingerprint);
      try {
        const { response, record } = await act(undefined);
        entries.set(key, { fingerprint, response: record, expiresAt: now() + recordTtlMs });
        return { kind: 'answered', response };
      } finally {
        running.delete(key);
      }
    },
  };
}

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
  const idempotencyKey = checked.request.headers['idempotency-key'];
  if (idempotencyKey === undefined || !changingMethods.has(checked.request.method)) return execute;
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  const key = `${checked.context.principal?.name ?? ''} ${placeOf(checked.route)} ${idempotencyKey}`;
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
  // Otherwise, the answer counts items, and shows none.
  if (route.kind === 'set-operation' && route.operation.selectedBy === undefined) return;
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
