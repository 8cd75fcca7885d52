import type { CallContext, Principal } from '../../definition/context.js';
import type { Resource } from '../../definition/resource.js';
import {
  type AnyStorage,
  type Check,
  Existing,
  type ItemChange,
  noSuchElement,
  Outcome,
  resultOf,
} from '../../definition/storage.js';
import { ApiError, apiError } from '../../errors/api-error.js';
import type { Filter } from '../../query/filter.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import { noSuchItem } from '../handlers/item-lookup.js';
import type { Route } from '../route.js';

/** The field of a resource that determines which callers may see an item. */
export interface RowScope {
  readonly field: string;
  /** Returns the default value of the field for a new item whose body omits it; undefined if there is none. */
  readonly defaultOf?: (body: ItemRecord) => string | undefined;
}

/**
 * Row scopes by resource name. A caller with a `rowScope` sees only items whose field has one of the values in that
 * scope. Top-level resources without an entry are forbidden to such a caller, and so are the resources below them.
 * Resources below a listed one need no entry.
 */
export type RowScopes = Readonly<Record<string, RowScope>>;

/**
 * Returns the route with storages that hide items outside the caller's row scope. Without a row scope, returns the
 * route unchanged.
 * @throws {ApiError} 40301 if the caller has a row scope, and the top-level resource has no entry in `scopes`
 */
export function applyRowScope(route: Route, scopes: RowScopes, principal: Principal | undefined): Route {
  const values = principal?.rowScope;
  if (values === undefined) return route;
  const root = (route.parents[0] ?? route).resource.name;
  if (scopes[root] === undefined) {
    throw apiError(40301, `These credentials are limited to ${values.join(', ')} and do not cover ${root}`);
  }
  const scoped = <Place extends Pick<Route, 'resource' | 'storage'>>(target: Place): Place => {
    const scope = scopes[target.resource.name];
    if (scope === undefined) return target;
    const isVisible = (item: ItemRecord): boolean => values.some((value) => value === item[scope.field]);
    return { ...target, isVisible, storage: scopedStorage(target.storage, target.resource, scope, values) };
  };
  return { ...scoped(route), parents: route.parents.map(scoped) };
}

/**
 * Checks that the caller's row scope, if there is one, contains `value`. Used by routes that do not serve a resource.
 * @throws {ApiError} 40301 if the scope does not contain `value`
 */
export function requireRowScope(principal: Principal | undefined, value: string | undefined): void {
  const values = principal?.rowScope;
  if (values === undefined || (value !== undefined && values.includes(value))) return;
  throw apiError(40301, `These credentials are limited to ${values.join(', ')}`);
}

/**
 * Wraps a storage so that it hides items outside the scope. An item can leave the scope during a call, so it is checked
 * again while it is locked, and before it is returned. Does not check other items that a body refers to; the storage
 * must check them against `CallContext.rowScope`.
 */
function scopedStorage(
  storage: AnyStorage,
  resource: Resource,
  { field, defaultOf }: RowScope,
  values: readonly string[],
): AnyStorage {
  const isInScope = (item: ItemRecord): boolean => values.some((value) => value === item[field]);

  const visible = (item: ItemRecord | undefined): ItemRecord | undefined =>
    item !== undefined && isInScope(item) ? item : undefined;

  const find = async (id: string, context: CallContext): Promise<ItemRecord | undefined> =>
    visible(await storage.get?.(id, context));

  /** Returns the check to run on the locked item. It rejects items outside the scope, then runs `check`. */
  const scopedCheck =
    (id: string, check: Check<ItemRecord> | undefined) =>
    (current: ItemRecord): void => {
      if (!isInScope(current)) throw noSuchItem(resource, id);
      check?.(current);
    };

  const outOfScope = (): Error =>
    apiError(40301, `These credentials are limited to the ${field} ${values.join(', ')}`);

  const requireInScope = (body: ItemRecord): void => {
    const value = body[field] ?? defaultOf?.(body);
    if (typeof value === 'string' && values.includes(value)) return;
    throw outOfScope();
  };

  /** @throws {ApiError} 40901 if the storage returned an existing item outside the scope instead of a new one */
  const requireVisible = (item: ItemRecord): ItemRecord => {
    if (isInScope(item)) return item;
    throw apiError(40901, `Another ${resource.singular} has the same ${resource.key}`);
  };

  const scopedChange = (
    change: ItemChange<ItemRecord, ItemRecord>,
    hidden: () => ApiError,
  ): ItemChange<ItemRecord, ItemRecord> => ({
    fields: change.fields,
    apply: (current) => {
      if (!isInScope(current)) throw hidden();
      const next = change.apply(current);
      if (next[field] !== undefined) requireInScope(next);
      return next;
    },
  });

  /** Restricts the filters to the scope. Returns undefined if no item can match. */
  const scopedFilters = (filters: readonly Filter[]): readonly Filter[] | undefined => {
    const scopeFilters = filters.filter((filter) => filter.field === field && filter.match === 'exact');
    const left = values.filter((value) =>
      scopeFilters.every((filter) => filter.values.some((wanted) => String(wanted) === value)),
    );
    if (left.length === 0) return undefined;
    const otherFilters = filters.filter((filter) => !scopeFilters.includes(filter));
    return [...otherFilters, { parameter: field, field, match: 'exact', path: [], values: left }];
  };

  const scoped: Required<
    Omit<AnyStorage, 'seeks' | 'findsExisting' | 'deletesAfterCommit' | 'operations' | 'setOperations'>
  > = {
    list: async (query, context, signal) => {
      const filters = scopedFilters(query.filters);
      const nothing = { items: [], total: query.count === 'none' ? undefined : 0 };
      return filters === undefined
        ? nothing
        : resultOf(storage.list?.({ ...query, filters }, context, signal));
    },
    get: find,
    wait: async (id, timeoutMs, context, signal) =>
      (await find(id, context)) && visible(await storage.wait?.(id, timeoutMs, context, signal)),
    stream: async (query, context, signal) => {
      const filters = scopedFilters(query.filters);
      if (filters === undefined) throw outOfScope();
      return resultOf(storage.stream?.({ ...query, filters }, context, signal));
    },
    create: async (body, context) => {
      requireInScope(body);
      const created = await resultOf(storage.create?.(body, context));
      requireVisible(created instanceof Existing ? created.item : created);
      return created;
    },
    problems: async (bodies, context) => resultOf(storage.problems?.(bodies, context)),
    createMany: async (bodies, context) => {
      for (const body of bodies) requireInScope(body);
      return (await resultOf(storage.createMany?.(bodies, context))).map(requireVisible);
    },
    replace: async (id, change, context) =>
      (await find(id, context)) &&
      storage.replace?.(
        id,
        scopedChange(change, () => noSuchItem(resource, id)),
        context,
      ),
    patch: async (id, change, context) =>
      (await find(id, context)) &&
      storage.patch?.(
        id,
        scopedChange(change, () => noSuchItem(resource, id)),
        context,
      ),
    replaceMany: async (changes, context) => {
      for (const { change } of changes) if (change.fields[field] !== undefined) requireInScope(change.fields);
      const scopedChanges = changes.map(({ id, change }, index) => ({
        id,
        change: scopedChange(change, () => new ApiError([noSuchElement(resource, id, index)])),
      }));
      return resultOf(storage.replaceMany?.(scopedChanges, context));
    },
    delete: async (id, check, context) =>
      (await find(id, context)) !== undefined &&
      resultOf(storage.delete?.(id, scopedCheck(id, check), context)),
    deleteMany: async (requestedFilters, context) => {
      const filters = scopedFilters(requestedFilters);
      return filters === undefined ? 0 : resultOf(storage.deleteMany?.(filters, context));
    },
  };
  const operations = Object.fromEntries(
    Object.entries(storage.operations ?? {}).map(([verb, perform]) => [
      verb,
      async (...[id, body, context, check]: Parameters<typeof perform>) => {
        if ((await find(id, context)) === undefined) return undefined;
        const after = await perform(id, body, context, scopedCheck(id, check));
        return visible(after instanceof Outcome ? after.item : after) && after;
      },
    ]),
  );
  const setOperations = Object.fromEntries(
    Object.entries(storage.setOperations ?? {}).map(([verb, perform]) => [
      verb,
      async (...[selection, body, context, respondsAsync]: Parameters<typeof perform>) => {
        const filters = scopedFilters(selection.filters);
        if (filters === undefined) throw outOfScope();
        return perform({ ...selection, filters }, body, context, respondsAsync);
      },
    ]),
  );
  // Leaves out functions that the storage lacks, because callers check whether a function exists.
  return Object.fromEntries(
    Object.entries({ ...storage, ...scoped, operations, setOperations }).filter(([name]) => name in storage),
  );
}
