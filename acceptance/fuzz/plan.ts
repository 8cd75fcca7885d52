import type { Operation } from '@longshore/test-support';
import type { Pair } from './parameter-values.js';

/** A generated request, before it is known which items exist; its texts may contain placeholders. */
export interface Plan {
  readonly operation: Operation;
  /** Values of the path parameters. Values that are missing here are taken from an existing item. */
  readonly path: Readonly<Record<string, string>>;
  /** Selects one of the existing items. */
  readonly item: number;
  readonly query: readonly Pair[];
  /** Text to append to the query without encoding, so that the query can be malformed. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Requests that are sent in order, because later ones may depend on earlier ones. Most chains contain only one. */
export type Chain = readonly Plan[];
