import type { TObject, TSchema } from 'typebox';
import { bodySchemas } from './body-schemas.js';
import { compileFilter } from './filter-declaration.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { type AnyTable, type Platform, tableStorage } from '../table/table-storage.js';
import { DefinitionError, requireFieldName, requirePluralNoun, requireVerb, singularOf } from './naming.js';
import type {
  AnyStorage,
  Child,
  ChildDeclaration,
  FieldOf,
  Operation,
  OperationDeclarations,
  Resource,
  ResourceDefinition,
  SortTerm,
} from './resource.js';

/**
 * Checks a definition and makes it ready to be served.
 * @throws DefinitionError that states the broken rule
 */
export function defineResource<
  Item extends TObject,
  const ServerSet extends FieldOf<Item> = never,
  Create extends TSchema | undefined = undefined,
  Operations extends OperationDeclarations = Readonly<Record<string, never>>,
>(definition: ResourceDefinition<Item, ServerSet, Create, Operations>): Resource {
  const singular = definition.singular ?? singularOf(definition.name);
  requirePluralNoun(definition.name, singular);
  try {
    return compile(definition, singular);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new DefinitionError(`resource "${definition.name}": ${error.message}`);
  }
}

function compile<
  Item extends TObject,
  ServerSet extends FieldOf<Item>,
  Create extends TSchema | undefined,
  Operations extends OperationDeclarations,
>(definition: ResourceDefinition<Item, ServerSet, Create, Operations>, singular: string): Resource {
  const item: JsonSchema = definition.item;
  const properties = item.properties ?? {};
  const fields = Object.keys(properties);
  const requireField = (field: string, where: string): void => {
    if (!fields.includes(field)) throw new DefinitionError(`${where} names no field of the item: "${field}"`);
  };
  for (const field of fields) requireFieldName(field, 'item');

  const key = definition.key ?? 'id';
  requireField(key, 'key');
  const serverSet = definition.serverSet ?? [];
  for (const field of serverSet) requireField(field, 'serverSet');
  const sort = [...new Set([...(definition.sort ?? []), key])];
  for (const field of sort) requireField(field, 'sort');
  const search = definition.search ?? [];
  for (const field of search) requireField(field, 'search');

  const operations = compileOperations(definition.operations ?? {});
  requirePerformed(operations, definition);
  const children = compileChildren(definition.children ?? [], operations);
  const table = definition.table as AnyTable | undefined;
  const connector = connectorOf(table, definition.storage as AnyStorage | undefined);
  const resource: Resource = {
    name: definition.name,
    singular,
    description: definition.description ?? '',
    item,
    fields,
    key,
    serverSet,
    shownOnce: definition.shownOnce ?? [],
    bodies: bodySchemas({ item, key, serverSet, create: definition.create, bulk: definition.bulk }),
    partialBulk: definition.bulk !== undefined,
    filters: new Map(
      Object.entries(definition.filters ?? {}).map(([parameter, declaration]) => [
        parameter,
        compileFilter(parameter, declaration, properties),
      ]),
    ),
    sort,
    defaultSort: (definition.defaultSort ?? []).map((term) => sortTerm(term, sort)),
    search,
    searchBy: definition.searchBy ?? 'similar',
    limits: { default: 20, max: 1000, ...definition.limits },
    ifMatch: definition.ifMatch ?? 'optional',
    operations,
    children,
    table,
    connect: (platform) => connector(resource, platform),
  };
  return resource;
}

function sortTerm(text: string, sortable: readonly string[]): SortTerm {
  const field = text.replace(/^-/, '');
  if (!sortable.includes(field)) throw new DefinitionError(`defaultSort names no sort field: "${field}"`);
  return { field, direction: text.startsWith('-') ? 'desc' : 'asc' };
}

function compileOperations(declarations: OperationDeclarations): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(declarations).map(([verb, { summary, body, states, enqueues = false, ...rest }]) => {
      requireVerb(verb);
      const [unknown] = Object.keys(rest);
      if (unknown !== undefined) {
        throw new DefinitionError(
          `operation "${verb}" has an unknown member "${unknown}"; what it does belongs to the operations of the table or storage`,
        );
      }
      return [verb, { verb, summary, body, states, enqueues }];
    }),
  );
}

function requirePerformed(
  operations: ReadonlyMap<string, Operation>,
  {
    storage,
    table,
  }: {
    readonly storage?: { operations?: object } | undefined;
    readonly table?: { operations?: object } | undefined;
  },
): void {
  const performed = storage?.operations ?? table?.operations ?? {};
  for (const verb of Object.keys(performed)) {
    if (!operations.has(verb)) throw new DefinitionError(`operation "${verb}" is performed but not declared`);
  }
  for (const { verb, states } of operations.values()) {
    const onlyChangesState = table !== undefined && states !== undefined;
    if (!onlyChangesState && !(verb in performed)) {
      throw new DefinitionError(`operation "${verb}" is declared but not performed`);
    }
  }
}

/** Connects the table or hands out the storage, which gets only what has passed the schemas its types come from. */
function connectorOf(
  table: AnyTable | undefined,
  storage: AnyStorage | undefined,
): (resource: Resource, platform: Platform | undefined) => AnyStorage {
  return (resource, platform) => {
    if (table === undefined) return storage ?? {};
    if (platform === undefined)
      throw new DefinitionError(`resource "${resource.name}" is a table and needs a database`);
    return tableStorage(resource, table, platform);
  };
}

function compileChildren(
  declarations: readonly ChildDeclaration[],
  operations: ReadonlyMap<string, Operation>,
): Map<string, Child> {
  const children = new Map<string, Child>();
  for (const { resource, by, serves } of declarations) {
    if (by !== undefined && !resource.fields.includes(by)) {
      throw new DefinitionError(`child "${resource.name}" has no field "${by}"`);
    }
    if (operations.has(resource.name) || children.has(resource.name)) {
      throw new DefinitionError(`child "${resource.name}" has the name of an operation or of another child`);
    }
    children.set(resource.name, { resource, by, serves: serves && new Set(serves) });
  }
  return children;
}
