import { ApiError } from '../errors/api-error.js';
import { parseValue } from '../query/filter.js';
import type { Resource } from './resource.js';

declare const normalized: unique symbol;

/** An id from a path, in its only spelling: a UUID in lower case. {@link itemIdOf} makes it. */
export type ItemId = string & { readonly [normalized]: true };

type Keyed = Pick<Resource, 'item' | 'key'>;

/** Returns the id that a segment of a path names. No item has the id if {@link keyValue} is undefined for it. */
export function itemIdOf(resource: Keyed, segment: string): ItemId {
  return String(keyValue(resource, segment) ?? segment) as ItemId;
}

/** Converts an id to the type of the key; undefined if no item can have this id. */
export function keyValue({ item, key }: Keyed, id: string): string | number | boolean | undefined {
  try {
    return parseValue(item.properties?.[key] ?? {}, 'id', id);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * Returns whether `/{collection}/search/{keyword}` searches the collection. It does not where an item can have the id
 * `search`, so that no id is reserved; such collections have `q` only.
 */
export function hasSearchPath(resource: Keyed & Pick<Resource, 'search'>): boolean {
  return resource.search.length > 0 && keyValue(resource, 'search') === undefined;
}
