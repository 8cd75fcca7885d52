import { brand, mapInSlices, type OperationJobs } from '@longshore/edge';
import { type Database, inTransaction, type Queryable, type Transaction } from '../database/database.js';
import type { CallContext, Platform } from '../definition/context.js';
import { DefinitionError } from '../definition/naming.js';
import type { Operation, Resource, StorageFactory } from '../definition/resource.js';
import { type AnyStorage, applyAll, type ItemChange, withJob } from '../definition/storage.js';
import { apiError, ProblemList } from '../errors/api-error.js';
import type { CollectionQuery } from '../query/collection-query.js';
import type { ItemRecord } from '../validation/json-schema.js';
import { columnsOf } from './columns.js';
import { allOf, Parameters } from './conditions.js';
import { TableReferences } from './references.js';
import type { AnyTable, OperationCall, TableDeclaration } from './table-declaration.js';
import { TableReader } from './table-reader.js';
import { type SearchQuery, TableSearch } from './table-search.js';
import { TableWriter } from './table-writer.js';

/**
 * Returns a factory for a storage that keeps items as rows of a table: `defineResource({ … }, tableStorage({ name:
 * 'shop.order' }))`. All SQL is generated from the definition.
 */
export function tableStorage<Item, Bodies>(
  table: TableDeclaration<Item, Bodies>,
): StorageFactory<Item, Bodies> {
  return new TableStorageFactory(table as AnyTable);
}

/** Returns the table that stores the items of a resource; undefined if the resource has another storage. */
export function tableOf({ storage }: Resource): AnyTable | undefined {
  return storage instanceof TableStorageFactory ? storage.table : undefined;
}

class TableStorageFactory implements StorageFactory<unknown, unknown> {
  static {
    brand(this, 'TableStorageFactory');
  }

  readonly table: AnyTable;
  readonly operations: readonly string[];
  readonly changesStates = true;

  constructor(table: AnyTable) {
    this.table = table;
    this.operations = Object.keys(table.operations ?? {});
  }

  create(resource: Resource, platform: Platform | undefined): AnyStorage {
    if (platform === undefined)
      throw new DefinitionError(`resource "${resource.name}" is a table and needs a database`);
    const enqueuing = [...resource.operations.values()].find(({ enqueues }) => enqueues);
    if (platform.jobs === undefined && enqueuing !== undefined)
      throw new DefinitionError(
        `operation "${enqueuing.verb}" of resource "${resource.name}" enqueues jobs: give the platform \`jobs\``,
      );
    return createStorage(resource, this.table, platform);
  }
}

type OperationCode = (
  call: OperationCall<ItemRecord, unknown>,
) => Promise<Partial<ItemRecord> | undefined | void>;

function createStorage(
  resource: Resource,
  table: AnyTable,
  { database, reads = database, jobs, searchTimeoutMs }: Platform,
): AnyStorage {
  const columns = columnsOf(resource, table);
  const reader = new TableReader({ database, reads }, resource, table.name, columns);
  const writer = new TableWriter(resource, table.name, columns);
  const references = new TableReferences(resource, table.name, columns);
  const search = new TableSearch(reads, reader, defaultOrder(resource), searchTimeoutMs);
  const writable = resource.fields.filter(
    (field) => !resource.serverSet.includes(field) && field !== resource.key,
  );

  const on = ({ transaction }: Pick<CallContext, 'transaction'>): Database | Transaction =>
    transaction ?? database;

  /** Writes fields of an item and returns the whole item. The change can move the item to another parent. */
  const write = async (
    transaction: Queryable,
    id: string,
    item: ItemRecord,
    fields: readonly string[],
    parentFields: CallContext['parentFields'],
  ): Promise<ItemRecord> => {
    await writer.update(transaction, [item], fields, (parameters) => reader.below(parentFields, parameters));
    const changed = await reader.get(transaction, id, parentAfter(item, parentFields), '');
    if (changed === undefined)
      throw new Error(`${resource.singular} ${id} disappeared within its transaction`);
    return changed;
  };

  /** @throws {ApiError} 42202 with every value that refers to no existing item */
  const requireReferences = async (
    transaction: Queryable,
    bodies: readonly ItemRecord[],
    at: (index: number) => string,
  ): Promise<void> => {
    const unchecked = bodies.map((body, index) => ({ body, at: at(index) }));
    const problems = new ProblemList();
    problems.addAll(await references.problems(transaction, unchecked));
    problems.throwIfAny();
  };

  const create = (
    bodies: readonly ItemRecord[],
    { parentFields, ...context }: CallContext,
    at: (index: number) => string,
  ): Promise<readonly ItemRecord[]> =>
    inTransaction(on(context), async (transaction) => {
      await requireReferences(transaction, bodies, at);
      return reader.getAll(transaction, await writer.insert(transaction, bodies, parentFields), parentFields);
    });

  const change = (
    id: string,
    itemChange: ItemChange<ItemRecord, ItemRecord>,
    { parentFields, ...context }: CallContext,
  ): Promise<ItemRecord | undefined> =>
    inTransaction(on(context), async (transaction) => {
      const current = await reader.get(transaction, id, parentFields, 'for update');
      if (current === undefined) return undefined;
      const item: ItemRecord = { ...itemChange.apply(current), [resource.key]: current[resource.key] };
      await requireReferences(transaction, [changedIn(current, item)], () => '');
      return write(transaction, id, item, writable, parentFields);
    });

  const operation =
    ({ verb, states }: Operation, code: OperationCode): NonNullable<AnyStorage['operations']>[string] =>
    (id, body, context, check) =>
      inTransaction(on(context), async (transaction) => {
        const item = await reader.get(transaction, id, context.parentFields, 'for update');
        if (item === undefined) return undefined;
        check?.(item);
        if (states !== undefined && states.unchanged.includes(String(item[states.field]))) return item;
        if (states !== undefined && !states.from.includes(String(item[states.field]))) {
          throw illegalState(resource, id, verb, String(item[states.field]), states.from);
        }
        const jobIds: string[] = [];
        const operationJobs = noting(jobs?.(transaction) ?? {}, jobIds);
        const stateChange = states === undefined ? {} : { [states.field]: states.to[0] };
        const changes = {
          ...stateChange,
          ...(await code({ ...operationJobs, item, body, transaction, context })),
        };
        const changed = { ...changes, [resource.key]: item[resource.key] };
        return withJob(
          await write(transaction, id, changed, Object.keys(changes), context.parentFields),
          jobIds.at(-1),
        );
      });

  const functions: AnyStorage = {
    seeks: true,
    list: (query, _context, signal) =>
      isSearch(query) ? search.list(query, signal) : reader.list(query, signal),
    get: (id, { parentFields, transaction }) => reader.get(transaction ?? reads, id, parentFields, ''),
    create: async (body, context) => {
      const [item] = await create([body], context, () => '');
      if (item === undefined) throw new Error(`An inserted ${resource.singular} was not found`);
      return item;
    },
    createMany: (bodies, context) => create(bodies, context, (index) => `[${index}]`),
    problems: (bodies) => references.problems(database, bodies),
    replace: change,
    patch: change,
    replaceMany: (requested, { parentFields, ...context }) =>
      inTransaction(on(context), async (transaction) => {
        const ids = requested.map(({ id }) => id);
        const locked = new Map<string, ItemRecord>();
        for (const item of await reader.lock(transaction, ids, parentFields))
          locked.set(String(item[resource.key]), item);
        const results = await applyAll(resource, requested, locked);
        const items = await mapInSlices(results, (fields, index) => ({
          ...fields,
          [resource.key]: locked.get(ids[index] ?? '')?.[resource.key],
        }));
        const changes = items.map((item, index) => changedIn(locked.get(ids[index] ?? '') ?? {}, item));
        await requireReferences(transaction, changes, (index) => `[${index}]`);
        await writer.update(transaction, items, writable, (parameters) =>
          reader.below(parentFields, parameters),
        );
        const groups = new Map<string, { parent: ItemRecord; ids: string[] }>();
        for (const [index, id] of ids.entries()) {
          const parent = parentAfter(items[index] ?? {}, parentFields);
          const group = groups.get(JSON.stringify(parent)) ?? { parent, ids: [] };
          groups.set(JSON.stringify(parent), group);
          group.ids.push(id);
        }
        const changed = new Map<string, ItemRecord>();
        for (const { parent, ids: siblings } of groups.values())
          for (const item of await reader.getAll(transaction, siblings, parent))
            changed.set(String(item[resource.key]), item);
        return ids.map((id) => changed.get(id)).filter((item) => item !== undefined);
      }),
    delete: (id, check, { parentFields, ...context }) =>
      inTransaction(on(context), async (transaction) => {
        const current = await reader.get(transaction, id, parentFields, 'for update');
        if (current === undefined) return false;
        check(current);
        const parameters = new Parameters();
        const where = allOf(reader.identity(id, parentFields, parameters));
        await transaction.query(`delete from ${reader.from} where ${where}`, parameters.values);
        return true;
      }),
    deleteMany: async (filters, { transaction = database }) => {
      const parameters = new Parameters();
      const where = allOf(reader.conditions({ filters, search: undefined }, parameters));
      const { rowCount } = await transaction.query(
        `delete from ${reader.from} where ${where}`,
        parameters.values,
      );
      return rowCount ?? 0;
    },
    operations: Object.fromEntries(
      [...resource.operations.values()].map((declared) => [
        declared.verb,
        operation(declared, table.operations?.[declared.verb] ?? changeStateOnly),
      ]),
    ),
  };
  const serves = table.serves ?? (table.view === true ? ['list', 'get'] : undefined);
  return serves === undefined ? functions : pickServed(functions, serves);
}

/** What a function that enqueues resolves to; see {@link Platform}. */
type Enqueued =
  | { readonly id: string }
  | readonly { readonly id: string }[]
  | { readonly jobs: readonly { readonly id: string }[]; readonly callback: { readonly id: string } | null };

/** Returns the functions. Each adds to `ids` the id of the job that it enqueues last. */
function noting(functions: OperationJobs, ids: string[]): OperationJobs {
  const entries = Object.entries(functions) as [string, (...call: unknown[]) => Promise<Enqueued>][];
  return Object.fromEntries(
    entries.map(([name, enqueue]) => [
      name,
      async (...call: unknown[]) => {
        const enqueued = await enqueue(...call);
        ids.push(...lastIdIn(enqueued));
        return enqueued;
      },
    ]),
  );
}

function lastIdIn(enqueued: Enqueued): string[] {
  if ('jobs' in enqueued)
    return lastIdIn([...enqueued.jobs, ...(enqueued.callback === null ? [] : [enqueued.callback])]);
  if ('id' in enqueued) return [enqueued.id];
  return enqueued.slice(-1).map(({ id }) => id);
}

/** Returns the fields whose value a change replaces. */
function changedIn(current: ItemRecord, item: ItemRecord): ItemRecord {
  return Object.fromEntries(Object.entries(item).filter(([field, value]) => value !== current[field]));
}

/** Returns the fields that identify the parent of an item after a change, which can move the item to another parent. */
function parentAfter(change: ItemRecord, parentFields: CallContext['parentFields']): ItemRecord {
  return Object.fromEntries(
    Object.entries(parentFields).map(([field, value]) => [field, field in change ? change[field] : value]),
  );
}

function isSearch(query: CollectionQuery): query is SearchQuery {
  return query.search !== undefined;
}

/** Returns the order of a list for requests without `sort`. */
function defaultOrder({ defaultSort, key }: Resource): CollectionQuery['sort'] {
  return defaultSort.length > 0 ? defaultSort : [{ field: key, direction: 'asc' }];
}

async function changeStateOnly(): Promise<undefined> {}

function pickServed(storage: AnyStorage, serves: readonly string[]): AnyStorage {
  return Object.fromEntries(
    Object.entries(storage).filter(
      ([name]) => name === 'seeks' || name === 'problems' || serves.includes(name),
    ),
  );
}

function illegalState(
  resource: Resource,
  id: string,
  verb: string,
  state: string,
  from: readonly string[],
): Error {
  return apiError(
    40902,
    `${resource.singular} "${id}" is ${state}; ${verb} is possible from ${from.join(', ')}`,
  );
}
