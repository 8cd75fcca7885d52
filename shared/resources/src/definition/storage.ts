import type { EventSource, StreamQuery } from './event-source.js';
import type { CollectionQuery, Selection } from '../query/collection-query.js';
import type { Principal } from '../pipeline/request/request.js';
import type { Transaction } from '../database/database.js';

/** What a storage may want to know about the call it serves. */
export interface CallContext {
  readonly requestId: string;
  /** undefined if the API has no credentials hook. */
  readonly principal: Principal | undefined;
  /** The items above in the path, outermost first: `/customers/7/orders` → `[{ resource: 'customers', id: '7' }]`. */
  readonly parents: readonly { readonly resource: string; readonly id: string }[];
  /**
   * Fields every item of this call must have, from the path: `/queues/mail/jobs` → `{ queue: 'mail' }`.
   * Already part of a query's filters; checked by the toolkit on items that `get` returns.
   */
  readonly scope: Readonly<Record<string, unknown>>;
  /**
   * The transaction that keeps the answer to a request with an `Idempotency-Key`; undefined for any other request. What a
   * storage reads and writes in it is done once, whatever dies when; what it writes elsewhere may be done again when the
   * request is repeated after a crash. Do not take another connection of the same pool while it is open.
   */
  readonly transaction?: Transaction;
  /**
   * The values of the field named in `confinement` that exist for the caller; undefined for all. The toolkit sees to the
   * items of this resource; storages see to others that a body refers to.
   */
  readonly within?: readonly string[] | undefined;
}

/** One page of a collection. */
export interface Page<Item> {
  /** At most `query.limit`, in the order of `query.sort`. */
  readonly items: readonly Item[];
  /** Items that match without limit and offset; undefined if `query.count` is `none`. */
  readonly total: number | undefined;
  /** The total is an estimate. */
  readonly estimated?: boolean;
  /** There are more items beyond this page in its direction; needed only from storages that seek. */
  readonly more?: boolean;
  /** The page has fewer items than there are because it would have been too large: the next one begins where it ends. */
  readonly cut?: boolean;
}

/**
 * A change to one item that a client asked for. The storage calls `apply` with the item as it is, inside the
 * transaction or lock that protects it, and writes what `apply` returns.
 */
export interface ItemChange<Item, Fields> {
  /** The fields that the client sent. */
  readonly fields: Partial<Fields>;
  /** Checks If-Match and If-None-Match, and validates the result; returns the new value of all writable fields. Throws an ApiError. */
  apply(current: Item): Fields;
}

/**
 * Performs a special operation; the body has passed its schema. A storage calls `check`, if it is given one, with the item
 * as it is under whatever keeps others from changing it, before it changes anything; it throws an ApiError if `If-Match` or
 * `If-None-Match` does not hold. One that leaves that out has only the look that the toolkit takes before, which another
 * change may follow.
 */
export type OperationFunction<Item, Body> = (
  id: string,
  body: Body,
  context: CallContext,
  check: Check<Item> | undefined,
) => Promise<Item | WithJob<Item> | undefined>;

/** Checks the conditions of a request against an item. @throws {ApiError} 41201, 42801 */
export type Check<Item> = (current: Item) => void;

/** An item after an operation that left the rest of its work to a job; `Prefer: respond-async` points there. */
export class WithJob<Item> {
  readonly item: Item;
  readonly jobId: string;

  constructor(item: Item, jobId: string) {
    this.item = item;
    this.jobId = jobId;
  }
}

/** The item, with its job if there is one. */
export function withJob<Item>(item: Item, jobId: string | undefined): Item | WithJob<Item> {
  return jobId === undefined ? item : new WithJob(item, jobId);
}

/** What `create` found there already, in whose place it made nothing: answered with 200 instead of 201. */
export class Existing<Item> {
  readonly item: Item;

  constructor(item: Item) {
    this.item = item;
  }
}

/** One element of a bulk change. */
export interface KeyedChange<Item, Fields> {
  readonly id: string;
  readonly change: ItemChange<Item, Fields>;
}

/**
 * What a resource is made of. A call is allowed if the function that serves it is there: `list` allows GET on the
 * collection, `create` POST, and so on; everything else is answered with 405. All may throw an ApiError; other
 * errors become a 500, or a 503 if `classifyError` of the API says so.
 */
export interface ResourceStorage<Item, Create, Fields, Operations> {
  /** `list` honours `query.seek`, so that the links of large collections may carry cursors. */
  readonly seeks?: true;
  /** `create` may give an item that was there already, as {@link Existing}. */
  readonly findsExisting?: true;
  list?(query: CollectionQuery, context: CallContext): Promise<Page<Item>>;
  /** undefined if there is no such item. */
  get?(id: string, context: CallContext): Promise<Item | undefined>;
  /** GET on the collection as server-sent events, instead of `list`. The signal aborts when the caller goes away. */
  stream?(query: StreamQuery, context: CallContext, signal: AbortSignal): Promise<EventSource>;
  /**
   * GET on an item with `?wait=`: the item when it has come to what clients wait for, or as it is when the time is up or the
   * signal aborts; undefined if there is none. Allows the parameter.
   */
  wait?(id: string, timeoutMs: number, context: CallContext, signal: AbortSignal): Promise<Item | undefined>;
  create?(body: Create, context: CallContext): Promise<Item | Existing<Item>>;
  /** All or none; the items in the order of the bodies. Allows POST with an array. */
  createMany?(bodies: readonly Create[], context: CallContext): Promise<readonly Item[]>;
  /** PUT on an item; undefined if there is none. */
  replace?(id: string, change: ItemChange<Item, Fields>, context: CallContext): Promise<Item | undefined>;
  /** PATCH on an item; undefined if there is none. */
  patch?(id: string, change: ItemChange<Item, Fields>, context: CallContext): Promise<Item | undefined>;
  /** PUT on the collection: all or none. Collect the errors of all changes with `applyAll`. */
  replaceMany?(changes: readonly KeyedChange<Item, Fields>[], context: CallContext): Promise<readonly Item[]>;
  /** Calls `check` with the item before it goes, as an operation does; false if there was none. */
  delete?(id: string, check: Check<Item>, context: CallContext): Promise<boolean>;
  /** DELETE on the collection; the count of deleted items. */
  deleteMany?(selection: Selection, context: CallContext): Promise<number>;
  /**
   * Special operations by verb. Each returns the item afterwards, or undefined if there is none; throws 40902 if
   * its state forbids it; answers an item that is already in the target state without a second effect.
   */
  readonly operations?: {
    readonly [Verb in keyof Operations]: OperationFunction<Item, Operations[Verb]>;
  };
}
