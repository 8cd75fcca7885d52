import type { Operation } from '@longshore/test-support';
import type { Pair } from './parameter-values.js';

/** A generated request. Texts may contain placeholders for values that are known only when the request is sent. */
export interface Plan {
  readonly operation: Operation;
  /** Values of the path parameters. Missing values are taken from an existing item. */
  readonly path: Readonly<Record<string, string>>;
  /** Index of the existing item to use, modulo the number of items. */
  readonly item: number;
  readonly query: readonly Pair[];
  /** Text to append to the query without encoding, so that the query can be malformed. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/**
 * Requests to send in order, because later requests may depend on earlier ones. Most chains contain a single request.
 */
export type Chain = readonly Plan[];
