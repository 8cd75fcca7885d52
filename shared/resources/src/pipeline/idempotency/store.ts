import type { Transaction } from '../../database/database.js';
import type { ApiResponse } from '../request/request.js';

/** How long an idempotency record is kept. */
export const keptForMs = 24 * 60 * 60 * 1000;

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** The caller, the path and the caller's key. */
  readonly key: string;
  /** A digest of the body. */
  readonly fingerprint: string;
}

/** The answer to a request. */
export interface KeyedResponse {
  readonly response: ApiResponse;
  /** The answer to a repetition, without what is shown only once. */
  readonly record: ApiResponse;
}

/** The result of a keyed request. */
export type KeyedResult =
  /** It was performed, now or earlier. */
  | { readonly kind: 'answered'; readonly response: ApiResponse }
  /** Another request with this key is in progress. */
  | { readonly kind: 'running' }
  /** The key was used with another body. */
  | { readonly kind: 'other-request' };

/** Keeps idempotency records, the answers to requests with an `Idempotency-Key`, for 24 hours. */
export interface IdempotencyStore {
  /**
   * Performs a request unless there is a record of it, and records the answer. Of concurrent calls with one key only one
   * performs. If `act` throws, nothing is recorded and this rejects with the same error.
   *
   * @param act receives the transaction that writes the record, if the store has transactions, so that what it writes there
   * and the record are committed together
   */
  perform(
    request: KeyedRequest,
    act: (transaction: Transaction | undefined) => Promise<KeyedResponse>,
  ): Promise<KeyedResult>;
}
