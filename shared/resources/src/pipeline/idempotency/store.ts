import type { ApiResponse } from '../request/request.js';
import type { Transaction } from '../../database/database.js';

/** How long the answer to a keyed request is kept. */
export const keptForMs = 24 * 60 * 60 * 1000;

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** The caller, the place and the caller's key. */
  readonly key: string;
  /** Of the body. */
  readonly fingerprint: string;
}

/** What a request is answered, and what a repetition of it will be answered. */
export interface Answers {
  readonly now: ApiResponse;
  readonly kept: ApiResponse;
}

/** What became of a keyed request. */
export type Outcome =
  /** It was performed now or before. */
  | { readonly kind: 'answered'; readonly response: ApiResponse }
  /** Another request with this key is being performed. */
  | { readonly kind: 'running' }
  /** The key came with another body before. */
  | { readonly kind: 'other-request' };

/** Keeps the answers to requests with an `Idempotency-Key` for 24 hours. */
export interface IdempotencyStore {
  /**
   * Performs a request unless an answer to it is kept, and keeps the answer. Of concurrent calls with one key only one
   * performs. What `act` throws, nothing is kept then, this rejects with.
   *
   * @param act gets the transaction that keeps the answer, if the store has transactions: what it writes there and the kept
   * answer are there together or not at all
   */
  perform(
    request: KeyedRequest,
    act: (transaction: Transaction | undefined) => Promise<Answers>,
  ): Promise<Outcome>;
}
