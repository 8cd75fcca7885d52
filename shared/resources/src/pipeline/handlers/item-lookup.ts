import { shorten } from '@longshore/edge';
import type { CallContext } from '../../definition/context.js';
import { nameInProse } from '../../definition/naming.js';
import type { Resource } from '../../definition/resource.js';
import type { AnyStorage } from '../../definition/storage.js';
import { type ApiError, apiError } from '../../errors/api-error.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import { type ItemId, keyValue, type Parent } from '../route.js';

/** Returns the field that the innermost parent in the path sets; empty if there is none. */
export function parentFieldsOf(parents: readonly Parent[]): CallContext['parentFields'] {
  const parent = parents.at(-1);
  if (parent?.child.by === undefined) return {};
  return { [parent.child.by]: keyValue(parent.resource, parent.id) };
}

/**
 * Returns the item with this id below the parents in the path.
 * @throws {ApiError} 40402 if there is no such item
 */
export async function requireItem(
  { resource, storage }: { readonly resource: Resource; readonly storage: AnyStorage },
  id: ItemId,
  context: CallContext,
): Promise<ItemRecord> {
  const isPossible = keyValue(resource, id) !== undefined;
  const item = isPossible ? await storage.get?.(id, context) : undefined;
  return requireFound(resource, id, belowParent(item, context.parentFields));
}

/**
 * Checks that every parent in the path exists below the parents before it.
 * @throws {ApiError} 40402 that names the first missing parent
 */
export async function requireParents(parents: readonly Parent[], context: CallContext): Promise<void> {
  for (const [depth, parent] of parents.entries()) {
    const above = parents.slice(0, depth);
    await requireItem(parent, parent.id, {
      ...context,
      parents: context.parents.slice(0, depth),
      parentFields: parentFieldsOf(above),
    });
  }
}

/** @throws {ApiError} 40402 if `item` is undefined */
export function requireFound<Item>(resource: Resource, id: string, item: Item | undefined): Item {
  if (item === undefined) throw noSuchItem(resource, id);
  return item;
}

/**
 * Rejects an id that no item can have. Does not use the storage.
 * @throws {ApiError} 40402
 */
export function requirePossibleId(resource: Resource, id: ItemId): void {
  if (keyValue(resource, id) === undefined) throw noSuchItem(resource, id);
}

export function noSuchItem(resource: Resource, id: string): ApiError {
  return apiError(40402, `There is no ${nameInProse(resource)} "${shorten(id, 200)}" here`);
}

function belowParent(
  item: ItemRecord | undefined,
  parentFields: CallContext['parentFields'],
): ItemRecord | undefined {
  const matches = Object.entries(parentFields).every(([field, value]) => {
    const actual = item?.[field];
    return actual === undefined || actual === value || (Array.isArray(actual) && actual.includes(value));
  });
  return matches ? item : undefined;
}
