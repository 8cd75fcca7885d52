import { apiError } from '../../errors/api-error.js';
import { noSuchItem } from '../handlers/item-lookup.js';
import { served } from '../handlers/served.js';
import type { Filter } from '../../query/filter.js';
import type { AnyStorage, ItemRecord, Resource } from '../../definition/resource.js';
import { type CallContext, type Check, Existing, type ItemChange, WithJob } from '../../definition/storage.js';

/** The field of a resource by which callers are confined. */
export interface ConfinedField {
  readonly field: string;
  /** The field's value in a new item whose body does not give it. */
  readonly assumed?: (body: ItemRecord) => string | undefined;
}

/**
 * A storage for a caller for whom only items with these values of a field exist. Everything that a confined caller may see or
 * change is decided here. An item may leave its bounds while a call is under way, so it is also checked where the storage
 * holds it, and before it is shown.
 */
export function confinedStorage(
  storage: AnyStorage,
  resource: Resource,
  { field, assumed }: ConfinedField,
  values: readonly string[],
): AnyStorage {
  const isWithin = (item: ItemRecord): boolean => values.some((value) => value === item[field]);

  const visible = (item: ItemRecord | undefined): ItemRecord | undefined =>
    item !== undefined && isWithin(item) ? item : undefined;

  const find = async (id: string, context: CallContext): Promise<ItemRecord | undefined> =>
    visible(await storage.get?.(id, context));

  /** For storages, which see to what a body refers to. */
  const bounded = (context: CallContext): CallContext => ({ ...context, within: values });

  /** A check that the storage makes while it holds the item. */
  const guarded =
    (id: string, check: Check<ItemRecord> | undefined) =>
    (current: ItemRecord): void => {
      if (!isWithin(current)) throw noSuchItem(resource, id);
      check?.(current);
    };

  const beyondReach = (): Error =>
    apiError(40301, `These credentials reach only the ${field} ${values.join(', ')}`);

  const requireWithin = (body: ItemRecord): void => {
    const value = body[field] ?? assumed?.(body);
    if (typeof value === 'string' && values.includes(value)) return;
    throw beyondReach();
  };

  /** An item that was there already, under the key that the body names, may be anybody's. */
  const own = (item: ItemRecord): ItemRecord => {
    if (isWithin(item)) return item;
    throw apiError(40901, `Another ${resource.singular} has the same ${resource.key}`);
  };

  const checked = (
    id: string,
    change: ItemChange<ItemRecord, ItemRecord>,
  ): ItemChange<ItemRecord, ItemRecord> => ({
    fields: change.fields,
    apply: (current) => {
      if (!isWithin(current)) throw noSuchItem(resource, id);
      const next = change.apply(current);
      if (next[field] !== undefined) requireWithin(next);
      return next;
    },
  });

  /** The filters with the field confined; undefined if they leave nothing. */
  const narrowed = (filters: readonly Filter[]): readonly Filter[] | undefined => {
    const given = filters.filter((filter) => filter.field === field && filter.match === 'exact');
    const left = values.filter((value) =>
      given.every((filter) => filter.values.some((wanted) => String(wanted) === value)),
    );
    if (left.length === 0) return undefined;
    const others = filters.filter((filter) => !given.includes(filter));
    return [...others, { parameter: field, field, match: 'exact', path: [], values: left }];
  };

  const confined: Required<Omit<AnyStorage, 'seeks' | 'findsExisting' | 'operations'>> = {
    list: async (query, context) => {
      const filters = narrowed(query.filters);
      const nothing = { items: [], total: query.count === 'none' ? undefined : 0 };
      return filters === undefined ? nothing : served(storage.list?.({ ...query, filters }, context));
    },
    get: find,
    wait: async (id, timeoutMs, context, signal) =>
      (await find(id, context)) && visible(await storage.wait?.(id, timeoutMs, context, signal)),
    stream: async (query, context, signal) => {
      const filters = narrowed(query.filters);
      if (filters === undefined) throw beyondReach();
      return served(storage.stream?.({ ...query, filters }, context, signal));
    },
    create: async (body, context) => {
      requireWithin(body);
      const made = await served(storage.create?.(body, bounded(context)));
      own(made instanceof Existing ? made.item : made);
      return made;
    },
    createMany: async (bodies, context) => {
      for (const body of bodies) requireWithin(body);
      return (await served(storage.createMany?.(bodies, bounded(context)))).map(own);
    },
    replace: async (id, change, context) =>
      (await find(id, context)) && storage.replace?.(id, checked(id, change), context),
    patch: async (id, change, context) =>
      (await find(id, context)) && storage.patch?.(id, checked(id, change), context),
    replaceMany: async (changes, context) => {
      for (const { change } of changes) if (change.fields[field] !== undefined) requireWithin(change.fields);
      const all = changes.map(({ id, change }) => ({ id, change: checked(id, change) }));
      return served(storage.replaceMany?.(all, context));
    },
    delete: async (id, check, context) =>
      (await find(id, context)) !== undefined && served(storage.delete?.(id, guarded(id, check), context)),
    deleteMany: async (selection, context) => {
      const filters = narrowed(selection.filters);
      return filters === undefined ? 0 : served(storage.deleteMany?.({ ...selection, filters }, context));
    },
  };
  const operations = Object.fromEntries(
    Object.entries(storage.operations ?? {}).map(([verb, perform]) => [
      verb,
      async (...[id, body, context, check]: Parameters<typeof perform>) => {
        if ((await find(id, context)) === undefined) return undefined;
        const after = await perform(id, body, bounded(context), guarded(id, check));
        return visible(after instanceof WithJob ? after.item : after) && after;
      },
    ]),
  );
  // What the storage does not serve stays so.
  return Object.fromEntries(
    Object.entries({ ...storage, ...confined, operations }).filter(([name]) => name in storage),
  );
}
