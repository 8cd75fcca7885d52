import { inSlices, shorten } from '@longshore/edge';
import { type Problem, ProblemList } from '../errors/api-error.js';
import { nameInProse } from './naming.js';

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
