import { apiError, ApiError } from '../../errors/api-error.js';
import { parseValue } from '../../query/filter.js';
import type { Parent } from '../request/route.js';
import type { AnyStorage, ItemRecord, Resource } from '../../definition/resource.js';
import type { CallContext } from '../../definition/storage.js';

/** The typed key that an id in a path stands for; undefined if no item can have it. */
export function keyValue(resource: Resource, id: string): string | number | boolean | undefined {
  try {
    return parseValue(resource.item.properties?.[resource.key] ?? {}, 'id', id);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** What the innermost parent demands of the items below it. */
export function scopeOf(parents: readonly Parent[]): CallContext['scope'] {
  const parent = parents.at(-1);
  if (parent?.child.by === undefined) return {};
  return { [parent.child.by]: keyValue(parent.resource, parent.id) };
}

/** The item with this id within the scope of the call. Throws 40402 that names it. */
export async function requireItem(
  { resource, storage }: { readonly resource: Resource; readonly storage: AnyStorage },
  id: string,
  context: CallContext,
): Promise<ItemRecord> {
  const known = keyValue(resource, id) !== undefined;
  const item = known ? await storage.get?.(id, context) : undefined;
  return present(resource, id, inScope(item, context.scope));
}

/** Checks that every parent exists, each within its own. Throws 40402 that names the first missing one. */
export async function requireParents(parents: readonly Parent[], context: CallContext): Promise<void> {
  for (const [depth, parent] of parents.entries()) {
    const above = parents.slice(0, depth);
    await requireItem(parent, parent.id, {
      ...context,
      parents: context.parents.slice(0, depth),
      scope: scopeOf(above),
    });
  }
}

/** The item, or 40402 if there is none. */
export function present<Item>(resource: Resource, id: string, item: Item | undefined): Item {
  if (item === undefined) throw noSuchItem(resource, id);
  return item;
}

/** Throws 40402 for an id that no key can have, which needs no look-up. */
export function requirePossible(resource: Resource, id: string): void {
  if (keyValue(resource, id) === undefined) throw noSuchItem(resource, id);
}

/** What the resource calls one of its items, in a sentence. */
export function nameOf({ singular }: Pick<Resource, 'singular'>): string {
  return singular.replaceAll('-', ' ');
}

export function noSuchItem(resource: Resource, id: string): ApiError {
  return apiError(40402, `There is no ${nameOf(resource)} "${id.slice(0, 200)}" here`);
}

function inScope(item: ItemRecord | undefined, scope: CallContext['scope']): ItemRecord | undefined {
  const matches = Object.entries(scope).every(([field, value]) => {
    const actual = item?.[field];
    return actual === undefined || actual === value || (Array.isArray(actual) && actual.includes(value));
  });
  return matches ? item : undefined;
}
