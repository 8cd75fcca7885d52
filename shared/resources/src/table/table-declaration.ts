import type { OperationJobs } from '@longshore/edge';
import type { Transaction } from '../database/database.js';
import type { CallContext } from '../definition/context.js';
import type { StorageFunction } from '../definition/storage.js';
import type { ItemRecord } from '../validation/json-schema.js';

/** A table or view whose rows are the items of a resource. */
export interface TableDeclaration<Item, Bodies> {
  /** The qualified name, e.g. `shop.order`. */
  readonly name: string;
  /** Whether this is a view. A view gets no indexes, and is read-only unless `serves` lists other calls. */
  readonly view?: boolean;
  /** Column names, by field. Needed if a column is not named after the field in snake case. */
  readonly columns?: { readonly [Field in keyof Item]?: string };
  /**
   * Which sorts and searches get an index. References to a parent always get one, and so do filters other than `path`.
   */
  readonly indexes?: {
    /**
     * Fields that have an index for sorting. Sorting by another field reads all rows that match the filters. Default:
     * all sortable fields except text that can have more than 500 characters, which can be too long for an index.
     */
    readonly sort?: readonly (keyof Item & string)[];
    /**
     * Whether the text that `q` searches has an index; `true` by default. Without an index, a search reads the rows
     * themselves and may reach its time limit.
     */
    readonly search?: boolean;
  };
  /** The calls that are served; default: all, or `list` and `get` for a view. */
  readonly serves?: readonly StorageFunction[];
  /**
   * The code of special operations, by verb. Runs in a transaction that has locked the item, after the item's state has
   * been checked. Returns the fields to change besides the state, if any. An operation that only changes the state
   * needs no code.
   */
  readonly operations?: {
    readonly [Verb in keyof Bodies]?: (
      call: OperationCall<Item, Bodies[Verb]>,
    ) => Promise<Partial<Item> | undefined | void>;
  };
}

/** A table declaration for items and bodies of unknown types. */
export type AnyTable = TableDeclaration<ItemRecord, Readonly<Record<string, unknown>>>;

/**
 * What the code of an operation receives. With `@longshore/jobs`, this includes `enqueue`, `enqueueMany` and
 * `enqueueBatch`: the methods of the client, with every option, in the operation's transaction. The jobs exist only if it
 * commits.
 */
export interface OperationCall<Item, Body> extends OperationJobs {
  /** The current item, locked. */
  readonly item: Item;
  readonly body: Body;
  readonly transaction: Transaction;
  readonly context: CallContext;
}
