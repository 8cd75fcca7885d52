import { ProblemList } from '../errors/api-error.js';
import { inSlices } from '../validation/large-body.js';
import { nameInProse } from './naming.js';

/**
 * A change to one item, as a client requested it. The storage calls `apply` with the current item while the item is locked,
 * and writes what `apply` returns.
 */
export interface ItemChange<Item, Fields> {
  /** The fields that the client sent. */
  readonly fields: Partial<Fields>;
  /**
   * Checks `If-Match` and `If-None-Match` against the current item, applies the change, and validates the result.
   * @returns the new value of all writable fields
   * @throws {ApiError}
   */
  apply(current: Item): Fields;
}

/** One element of a bulk change. */
export interface KeyedChange<Item, Fields> {
  readonly id: string;
  readonly change: ItemChange<Item, Fields>;
}

/**
 * Applies a bulk change to the current items.
 * @param current the existing items by id
 * @returns the new writable fields of each item, in the order of the changes
 * @throws {ApiError} with the problems of all elements
 */
export function applyAll<Item, Fields>(
  resource: { readonly singular: string },
  changes: readonly KeyedChange<Item, Fields>[],
  current: ReadonlyMap<string, Item>,
): readonly Fields[] {
  const bulk = new BulkChange<Item, Fields>(resource, current);
  for (const [index, change] of changes.entries()) bulk.apply(change, index);
  return bulk.results();
}

/** Does the same as {@link applyAll}, in time slices, so that other requests are served in between. */
export async function applyAllInSlices<Item, Fields>(
  resource: { readonly singular: string },
  changes: readonly KeyedChange<Item, Fields>[],
  current: ReadonlyMap<string, Item>,
): Promise<readonly Fields[]> {
  const bulk = new BulkChange<Item, Fields>(resource, current);
  await inSlices(changes, (change, index) => bulk.apply(change, index));
  return bulk.results();
}

/** Collects the results and the problems of a bulk change. */
class BulkChange<Item, Fields> {
  readonly #resource: { readonly singular: string };
  readonly #current: ReadonlyMap<string, Item>;
  readonly #problems = new ProblemList();
  readonly #results: Fields[] = [];

  constructor(resource: { readonly singular: string }, current: ReadonlyMap<string, Item>) {
    this.#resource = resource;
    this.#current = current;
  }

  apply({ id, change }: KeyedChange<Item, Fields>, index: number): void {
    const item = this.#current.get(id);
    if (item === undefined) {
      const internalMessage = `[${index}]: there is no ${nameInProse(this.#resource)} "${id}" here`;
      this.#problems.add({ code: 40402, internalMessage });
      return;
    }
    const result = this.#problems.collect(() => change.apply(item));
    if (result !== undefined) this.#results.push(result);
  }

  /** @throws {ApiError} with the problems of all elements */
  results(): readonly Fields[] {
    this.#problems.throwIfAny();
    return this.#results;
  }
}
