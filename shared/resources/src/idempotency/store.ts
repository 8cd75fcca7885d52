import type { ApiResponse } from '../request/request.js';

/** How long the answer to a keyed request is kept. */
export const keptForMs = 24 * 60 * 60 * 1000;

/** After this time a request that never finished, say because its process died, may be sent again. */
export const runningForMs = 60 * 1000;

/** What became of a key. */
export type Reservation =
  | { readonly kind: 'begun' }
  | { readonly kind: 'running' }
  | { readonly kind: 'other-request' }
  | { readonly kind: 'finished'; readonly response: ApiResponse };

/** Remembers the answers to requests with an `Idempotency-Key` for 24 hours. */
export interface IdempotencyStore {
  /** Reserves the key for a request with this fingerprint, unless it is taken. */
  begin(key: string, fingerprint: string): Promise<Reservation>;
  finish(key: string, response: ApiResponse): Promise<void>;
  /** Forgets a reservation whose request failed, so that it may be sent again. */
  release(key: string): Promise<void>;
}
