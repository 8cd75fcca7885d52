import type { Operation } from '@longshore/test-support';
import type { Pair } from './parameter-values.js';

/** A request before it is known which items exist: its texts may hold placeholders. */
export interface Plan {
  readonly operation: Operation;
  /** Values of the path parameters; one that is missing is that of an item which exists. */
  readonly path: Readonly<Record<string, string>>;
  /** Which of the items that exist. */
  readonly item: number;
  readonly query: readonly Pair[];
  /** What the query ends with, byte for byte: bad encodings. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Steps of which each may need what the ones before have brought about; most have one. */
export type Chain = readonly Plan[];
