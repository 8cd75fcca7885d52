import type { StorageFunction } from '../definition/resource.js';
import type { CallContext } from '../definition/storage.js';
import type { Transaction } from '../database/database.js';

/** A resource whose items are the rows of a table or view. */
export interface TableDeclaration<Item, Bodies> {
  /** Name with its schema, e.g. `shop.order`. */
  readonly name: string;
  /** It is a view: served for reading unless `serves` says otherwise, and without indexes of its own. */
  readonly view?: boolean;
  /** Columns whose name is not the field's in snake case. */
  readonly columns?: { readonly [Field in keyof Item]?: string };
  /** The calls that are served; default: all, of a view `list` and `get`. */
  readonly serves?: readonly StorageFunction[];
  /**
   * Special operations by verb. Each runs in a transaction that holds the item locked, after the check of its state,
   * and returns the fields to change besides the
   * state, if any. An operation that only changes the state needs none.
   */
  readonly operations?: {
    readonly [Verb in keyof Bodies]?: (
      call: OperationCall<Item, Bodies[Verb]>,
    ) => Promise<Partial<Item> | undefined | void>;
  };
}

export interface OperationCall<Item, Body> {
  /** The item as it is, locked. */
  readonly item: Item;
  readonly body: Body;
  readonly transaction: Transaction;
  /** Enqueues a job in the same transaction; returns its id. */
  readonly enqueue: (job: string, args: unknown) => Promise<string>;
  readonly context: CallContext;
}
