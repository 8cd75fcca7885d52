import { ProblemList } from '../errors/api-error.js';
import { nameInProse } from './naming.js';

/**
 * A change to one item, as a client requested it. The storage calls `apply` with the current item while the item is locked,
 * and writes what `apply` returns.
 */
export interface ItemChange<Item, Fields> {
  /** The fields that the client sent. */
  readonly fields: Partial<Fields>;
  /**
   * Checks If-Match and If-None-Match, and validates the result.
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
  const problems = new ProblemList();
  const results = changes.flatMap(({ id, change }, index) => {
    const item = current.get(id);
    if (item === undefined) {
      problems.add({
        code: 40402,
        internalMessage: `[${index}]: there is no ${nameInProse(resource)} "${id}" here`,
      });
      return [];
    }
    const result = problems.collect(() => change.apply(item));
    return result === undefined ? [] : [result];
  });
  problems.throwIfAny();
  return results;
}
