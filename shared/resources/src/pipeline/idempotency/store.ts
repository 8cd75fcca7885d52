import type { Transaction } from '../../database/database.js';
import type { ApiResponse } from '../request/request.js';

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

/** The result of {@link IdempotencyStore.perform}. */
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
      const known = entry?.fingerprint ?? running.get(key);
      if (known !== undefined && known !== fingerprint) return { kind: 'other-request' };
      if (entry !== undefined) return { kind: 'answered', response: entry.response };
      if (known !== undefined) return { kind: 'running' };
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
