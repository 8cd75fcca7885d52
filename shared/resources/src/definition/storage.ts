import { brand, inSlices, shorten } from '@longshore/edge';
import { type Problem, ProblemList } from '../errors/api-error.js';
import type { CollectionQuery, StreamQuery } from '../query/collection-query.js';
import type { Filter } from '../query/filter.js';
import type { Page } from '../query/page.js';
import type { ItemRecord } from '../validation/json-schema.js';
import type { CallContext } from './context.js';
import { nameInProse } from './naming.js';

/**
 * Checks the conditions of a request against an item.
 * @throws {ApiError} 41201 if a condition does not hold, 42801 if `If-Match` is required but missing, 40402 if the
 *   caller may not see the item
 */
export type Check<Item> = (current: Item) => void;

/**
 * Performs a special operation with a validated body. If `check` is given, must call it with the current, locked item
 * before changing anything. `check` throws an ApiError if a condition of the request does not hold. If the storage has
 * `get`, the toolkit also calls `check` beforehand, but without a lock.
 */
export type OperationFunction<Item, Body> = (
  id: string,
  body: Body,
  context: CallContext,
  check: Check<Item> | undefined,
) => Promise<Item | Outcome<Item> | undefined>;

/** The items that a set operation changes: those with these ids, and those that match the filters. */
export interface ItemSelection {
  /** Undefined if the request selects by filters alone. */
  readonly ids: readonly string[] | undefined;
  /** Includes the row scope of the caller. */
  readonly filters: readonly Filter[];
}

/**
 * Performs a set operation with a validated body. Resolves to an item of the resource that the operation declares as its
 * `answer`, or to the changed items if it declares `selectedBy` instead.
 *
 * @param respondsAsync whether the client prefers not to wait for the end
 * @returns `isDone`: whether the operation has ended; the response is then 200 instead of 202
 */
export type SetOperationFunction = (
  selection: ItemSelection,
  body: unknown,
  context: CallContext,
  respondsAsync: boolean,
) => Promise<{ readonly item: ItemRecord; readonly isDone: boolean } | readonly ItemRecord[]>;

/**
 * The result of an operation about which there is more to say than the item:
 *
 * - `jobId`: the job to which the operation leaves the rest of its work. If the operation declares `enqueues`, a request
 *   with `Prefer: respond-async` gets a 202 with the job's location.
 * - `isPending`: whether the operation has only been requested, and goes on. If the operation declares what `pending`
 *   means, the response is 202.
 * - `changed`: how many items the operation has changed, which the response states as `X-Total-Count`.
 */
export class Outcome<Item> {
  static {
    brand(this, 'Outcome');
  }

  readonly item: Item;
  readonly jobId: string | undefined;
  readonly isPending: boolean;
  readonly changed: number | undefined;

  constructor(
    item: Item,
    {
      jobId,
      isPending = false,
      changed,
    }: {
      readonly jobId?: string;
      readonly isPending?: boolean;
      readonly changed?: number | undefined;
    },
  ) {
    this.item = item;
    this.jobId = jobId;
    this.isPending = isPending;
    this.changed = changed;
  }
}

/** Returns the item, in an {@link Outcome} if there is a job. */
export function withJob<Item>(item: Item, jobId: string | undefined): Item | Outcome<Item> {
  return jobId === undefined ? item : new Outcome(item, { jobId });
}

/** The result of `create` if the item already existed; the response is 200 instead of 201. */
export class Existing<Item> {
  static {
    brand(this, 'Existing');
  }

  readonly item: Item;

  constructor(item: Item) {
    this.item = item;
  }
}

/** What `deleteMany` resolves to if it deletes the items only after the commit of the request's transaction. */
export const afterCommit = Symbol('after the commit');

/**
 * The functions behind a resource. Each function enables one call: for example, `list` enables GET on the collection,
 * and `create` enables POST. Calls without a function get a 405. Any function can throw an ApiError. Known Postgres
 * errors, and errors that the API's `classifyError` recognizes, are converted to an ApiError. All other errors become a
 * 500.
 */
export interface ResourceStorage<Item, Create, Fields, Operations> {
  /** Declares that `list` honours `query.seek`, so the links of large collections can use cursors. */
  readonly seeks?: true;
  /** Declares that `create` may return {@link Existing}. */
  readonly findsExisting?: true;
  /** Declares that `deleteMany` may return {@link afterCommit}. */
  readonly deletesAfterCommit?: true;
  /** The signal aborts when the caller disconnects, so that nothing is read for nobody. */
  list?(query: CollectionQuery, context: CallContext, signal: AbortSignal): Promise<Page<Item>>;
  /** Resolves to undefined if there is no such item. */
  get?(id: string, context: CallContext): Promise<Item | undefined>;
  /**
   * Serves GET on the collection as server-sent events, in place of `list`. The signal aborts when the caller
   * disconnects or loses access.
   */
  stream?(query: StreamQuery, context: CallContext, signal: AbortSignal): Promise<EventSource>;
  /**
   * Serves GET on an item with `?wait=`. Resolves to the item when it reaches the state that clients wait for. On
   * timeout or abort, resolves to the current item; undefined if there is no such item.
   */
  wait?(id: string, timeoutMs: number, context: CallContext, signal: AbortSignal): Promise<Item | undefined>;
  create?(body: Create, context: CallContext): Promise<Item | Existing<Item>>;
  /**
   * Returns what is wrong with bodies besides what the schema finds, so that callers learn of all problems at once. Asked only
   * for requests that are rejected anyway. Must ignore values that the schema does not allow; the bodies of PUT and PATCH need
   * not have all fields. The functions that write check the same themselves.
   */
  problems?(bodies: readonly UncheckedBody[], context: CallContext): Promise<readonly Problem[]>;
  /** POST with an array: creates all items or none. Resolves to the items in the same order. */
  createMany?(bodies: readonly Create[], context: CallContext): Promise<readonly Item[]>;
  /** PUT on an item; resolves to undefined if there is no such item. */
  replace?(id: string, change: ItemChange<Item, Fields>, context: CallContext): Promise<Item | undefined>;
  /** PATCH on an item; resolves to undefined if there is no such item. */
  patch?(id: string, change: ItemChange<Item, Fields>, context: CallContext): Promise<Item | undefined>;
  /** PUT on the collection: changes all items or none. Use `applyAll` to collect the errors of all changes. */
  replaceMany?(changes: readonly KeyedChange<Item, Fields>[], context: CallContext): Promise<readonly Item[]>;
  /**
   * DELETE on an item. Must call `check` with the locked item before deleting it. Resolves to false if there is no such
   * item.
   */
  delete?(id: string, check: Check<Item>, context: CallContext): Promise<boolean>;
  /**
   * DELETE on the collection; resolves to the number of deleted items, or to {@link afterCommit} if they are deleted only
   * after the commit of the request's transaction. The answer is then 202.
   */
  deleteMany?(filters: readonly Filter[], context: CallContext): Promise<number | typeof afterCommit>;
  /**
   * Special operations by verb. Each resolves to the changed item, alone or in an {@link Outcome}, or to undefined if
   * there is no such item. Each throws 40902 if the item's state forbids the operation, and returns an item unchanged
   * if it is already in the target state.
   */
  readonly operations?: {
    readonly [Verb in keyof Operations]: OperationFunction<Item, Operations[Verb]>;
  };
  readonly setOperations?: Readonly<Record<string, SetOperationFunction>>;
}

/** A body that may break the schema. */
export interface UncheckedBody {
  readonly body: unknown;
  /** The position of the body in the request, such as `[3]`, for messages; empty for the whole body. */
  readonly at: string;
}

/** A storage without the types of its resource, as the pipeline uses it. */
export type AnyStorage = ResourceStorage<
  ItemRecord,
  ItemRecord,
  ItemRecord,
  Readonly<Record<string, unknown>>
>;

/** A member of {@link ResourceStorage} that serves calls: a function, or `operations`. */
export type StorageFunction = Exclude<
  keyof AnyStorage,
  'seeks' | 'findsExisting' | 'deletesAfterCommit' | 'problems'
>;

/**
 * Awaits the result of a storage function, as in `resultOf(storage.list?.(query, context))`. A missing function is a
 * bug, because earlier checks reject calls that the storage does not serve.
 */
export async function resultOf<Result>(result: Promise<Result> | undefined): Promise<Result> {
  if (result === undefined) throw new Error('The storage lacks the function that serves this call');
  return result;
}

/**
 * A change to one item, requested by a client. The storage locks the item, calls `apply` with the current item, and
 * writes the result.
 */
export interface ItemChange<Item, Fields> {
  /** The fields that the client sent. */
  readonly fields: Partial<Fields>;
  /**
   * Checks `If-Match` and `If-None-Match` against the current item, applies the change, and validates the result.
   * @returns the new value of all writable fields
   * @throws {ApiError} if a condition does not hold, or the result is invalid
   */
  apply(current: Item): Fields;
}

/** One element of a bulk change. */
export interface KeyedChange<Item, Fields> {
  readonly id: string;
  readonly change: ItemChange<Item, Fields>;
}

/**
 * Applies a bulk change to the current items. Works in time slices, so that other requests are served in between.
 *
 * @param current the existing items by id
 * @returns the new writable fields of each item, in the order of the changes
 * @throws {ApiError} with the problems of all elements, reduced to one status by {@link ProblemList}. An element whose
 *   item does not exist has the problem 40402
 */
export async function applyAll<Item, Fields>(
  resource: { readonly singular: string },
  changes: readonly KeyedChange<Item, Fields>[],
  current: ReadonlyMap<string, Item>,
): Promise<readonly Fields[]> {
  const problems = new ProblemList();
  const results: Fields[] = [];
  await inSlices(changes, ({ id, change }, index) => {
    const item = current.get(id);
    if (item === undefined) {
      problems.add(noSuchElement(resource, id, index));
      return;
    }
    const result = problems.collect(() => change.apply(item));
    if (result !== undefined) results.push(result);
  });
  problems.throwIfAny();
  return results;
}

/** Returns the problem of an element whose item does not exist, or is hidden from the caller, who must not see which. */
export function noSuchElement(resource: { readonly singular: string }, id: string, index: number): Problem {
  const internalMessage = `[${index}]: there is no ${nameInProse(resource)} "${shorten(id, 200)}" here`;
  return { code: 40402, internalMessage };
}

/** One event, as in the HTML Standard, § 9.2 “Server-sent events”. */
export interface ServerSentEvent {
  /** The type of the event; if omitted, clients see `message`. */
  readonly event?: string;
  /** The id from which a client resumes if it reconnects after this event. Must not contain line breaks. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}

/**
 * A stream of events. When the stream ends, the response ends too. Clients then reconnect with the id of the last event
 * that they received.
 */
export interface EventSource {
  readonly events: AsyncIterable<ServerSentEvent>;
  /**
   * Returns the position after all events so far; undefined while events are pending. Sent with heartbeats as the id
   * from which a client resumes.
   */
  readonly position?: () => string | undefined;
  /** Whether the stream has ended for good. The response is then 204, so that clients stop reconnecting. */
  readonly isOver?: boolean;
}
