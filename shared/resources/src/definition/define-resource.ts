import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { SortTerm } from '../query/collection-query.js';
import { type JsonSchema, limited, schemaAt, typesOf } from '../validation/json-schema.js';
import { bodySchemas } from './body-schemas.js';
import { compileDeprecation } from './deprecation.js';
import { compileFilter } from './filter-declaration.js';
import { DefinitionError, requireFieldName, requirePluralNoun, requireVerb, singularOf } from './naming.js';
import type {
  Call,
  CallDeclaration,
  Child,
  ChildDeclaration,
  FieldOf,
  NotAllowed,
  Operation,
  OperationBodies,
  OperationDeclarations,
  Resource,
  ResourceDefinition,
  ResourceDescription,
  StorageFactory,
} from './resource.js';
import type { AnyStorage, StorageFunction } from './storage.js';

/**
 * Defines a resource with the storage functions in `storage`.
 * @throws {DefinitionError} if the definition breaks a rule; the message states the rule
 */
export function defineResource<
  Item extends TObject,
  const ServerSet extends FieldOf<Item> = never,
  Create extends TSchema | undefined = undefined,
  Operations extends OperationDeclarations = Readonly<Record<string, never>>,
>(definition: ResourceDefinition<Item, ServerSet, Create, Operations>): Resource;
/**
 * Defines a resource with a storage that is built from the definition: `defineResource({ … }, tableStorage({ … }))`.
 * @throws {DefinitionError} if the definition breaks a rule; the message states the rule
 */
export function defineResource<
  Item extends TObject,
  const ServerSet extends FieldOf<Item> = never,
  Create extends TSchema | undefined = undefined,
  Operations extends OperationDeclarations = Readonly<Record<string, never>>,
>(
  description: ResourceDescription<Item, ServerSet, Create, Operations>,
  storage: StorageFactory<NoInfer<Static<Item>>, NoInfer<OperationBodies<Operations>>>,
): Resource;
export function defineResource(definition: object, factory?: AnyFactory): Resource {
  const { storage = {}, ...description } = definition as AnyDescription & { readonly storage?: AnyStorage };
  const singular = description.singular ?? singularOf(description.name);
  requirePluralNoun(description.name, singular);
  try {
    return compile(description, singular, factory ?? functionStorage(storage));
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new DefinitionError(`resource "${description.name}": ${error.message}`);
  }
}

type AnyDescription = ResourceDescription<TObject, string, TSchema | undefined, OperationDeclarations>;
type AnyFactory = StorageFactory<never, never>;

/**
 * Returns a factory that always returns this storage. `AnyStorage` hides the parameter types of the functions. This is
 * safe, because the functions are called only with values that match the schemas.
 */
function functionStorage(storage: AnyStorage): AnyFactory {
  return { operations: Object.keys(storage.operations ?? {}), changesStates: false, create: () => storage };
}

function compile(definition: AnyDescription, singular: string, storage: AnyFactory): Resource {
  const item: JsonSchema = definition.item;
  const properties = item.properties ?? {};
  const fields = Object.keys(properties);
  const requireField = (field: string, where: string): void => {
    if (!fields.includes(field)) throw new DefinitionError(`${where} names no field of the item: "${field}"`);
  };
  for (const field of fields) requireFieldName(field, 'item');

  const key = definition.key ?? 'id';
  requireField(key, 'key');
  const serverSet: readonly string[] = definition.serverSet ?? [];
  for (const field of serverSet) requireField(field, 'serverSet');
  const sort = [...new Set([...(definition.sort ?? scalarFields(item)), key])];
  for (const field of sort) {
    if (schemaAt(item, field) === undefined)
      throw new DefinitionError(`sort names no field of the item: "${field}"`);
  }
  const search = definition.search ?? textFields(item);
  for (const field of search) requireField(field, 'search');

  const operations = compileOperations(definition.operations ?? {});
  requireCode(operations, storage);
  return {
    name: definition.name,
    singular,
    noun: definition.noun,
    description: definition.description ?? '',
    calls: compileCalls(definition.calls),
    deprecated: compileDeprecation(definition.deprecated),
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
    limits: { default: 20, max: 1000, ...definition.limits },
    deletionReason: definition.deletionReason,
    eventIds: definition.eventIds,
    ifMatch: definition.ifMatch ?? 'optional',
    operations,
    setOperations: compileSetOperations(definition, properties[key]),
    notAllowed: compileReasons(definition.notAllowed ?? {}, ''),
    children: compileChildren(definition.children ?? [], operations),
    storage,
  };
}

function sortTerm(text: string, sortable: readonly string[]): SortTerm {
  const field = text.replace(/^-/, '');
  if (!sortable.includes(field)) throw new DefinitionError(`defaultSort names no sort field: "${field}"`);
  return { field, direction: text.startsWith('-') ? 'desc' : 'asc' };
}

function compileCalls(
  declarations: Readonly<Partial<Record<StorageFunction, CallDeclaration>>> = {},
): ReadonlyMap<StorageFunction, Call> {
  return new Map(
    Object.entries(declarations).map(([name, { wording, note, deprecated }]) => [
      name as StorageFunction,
      { wording, note, deprecated: compileDeprecation(deprecated) },
    ]),
  );
}

function compileOperations(declarations: OperationDeclarations): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(declarations).map(
      ([verb, { summary, note, body, states, enqueues = false, pending, deprecated, ...rest }]) => {
        requireVerb(verb);
        const [unknown] = Object.keys(rest);
        if (unknown !== undefined) {
          throw new DefinitionError(
            `operation "${verb}" has an unknown member "${unknown}"; its code belongs in the operations of the storage`,
          );
        }
        const compiled = {
          verb,
          summary,
          note,
          body: body && limited(body),
          states: states && { unchanged: states.to, ...states },
          enqueues,
          pending,
        };
        return [verb, { ...compiled, deprecated: compileDeprecation(deprecated) }];
      },
    ),
  );
}

/** @param key the schema of the field that identifies an item */
function compileSetOperations(
  { setOperations: declarations = {}, filters = {} }: Pick<AnyDescription, 'setOperations' | 'filters'>,
  key: JsonSchema | undefined,
): Resource['setOperations'] {
  if (Object.keys(declarations).length > 0 && key?.format !== 'uuid')
    throw new DefinitionError('only a resource whose keys are UUIDs can have set operations');
  return new Map(
    Object.entries(declarations).map(([verb, { summary, note, body, answer, selectedBy }]) => {
      requireVerb(verb);
      if (selectedBy !== undefined && !(selectedBy in filters && body?.required?.includes(selectedBy)))
        throw new DefinitionError(
          `operation "${verb}" selects by "${selectedBy}", which must be a filter and a required field of its body`,
        );
      const properties = { ...(selectedBy === undefined && { ids: selectedIds }), ...body?.properties };
      const schema: TSchema = Type.Object(properties, { additionalProperties: false });
      return [verb, { verb, summary, note, body: limited(schema), answer, selectedBy }];
    }),
  );
}

const selectedIds = Type.Optional(
  Type.Array(Type.String({ format: 'uuid' }), {
    minItems: 1,
    maxItems: 1_000,
    description: 'The items to change, out of those that match the filters',
  }),
);

/** Checks that the storage has code for every operation that needs code, and for no undeclared operation. */
function requireCode(operations: ReadonlyMap<string, Operation>, storage: AnyFactory): void {
  for (const verb of storage.operations) {
    if (!operations.has(verb))
      throw new DefinitionError(`operation "${verb}" has code in the storage but is not declared`);
  }
  for (const { verb, states } of operations.values()) {
    const needsCode = states === undefined || !storage.changesStates;
    if (needsCode && !storage.operations.includes(verb))
      throw new DefinitionError(`operation "${verb}" is declared but has no code in the storage`);
  }
}

/** Checks that each reason is a sentence. Error messages show it after “PUT is not possible here: ”. */
function compileReasons(reasons: NotAllowed, where: string): Resource['notAllowed'] {
  const entries = Object.entries(reasons);
  for (const [name, reason] of entries) {
    if (!/^[A-Z].*\.$/.test(reason))
      throw new DefinitionError(`${where}notAllowed.${name} must be a sentence: "${reason}"`);
  }
  return new Map(entries) as Resource['notAllowed'];
}

function compileChildren(
  declarations: readonly ChildDeclaration[],
  operations: ReadonlyMap<string, Operation>,
): Map<string, Child> {
  const children = new Map<string, Child>();
  for (const { resource, by, serves, notAllowed = {} } of declarations) {
    if (by !== undefined && !resource.fields.includes(by)) {
      throw new DefinitionError(`child "${resource.name}" has no field "${by}"`);
    }
    if (operations.has(resource.name) || children.has(resource.name)) {
      throw new DefinitionError(`child "${resource.name}" has the name of an operation or of another child`);
    }
    children.set(resource.name, {
      resource,
      by,
      serves: serves && new Set(serves),
      notAllowed: compileReasons(notAllowed, `child "${resource.name}": `),
    });
  }
  return children;
}

/** String formats that do not count as text. By default, `q` does not search fields with these formats. */
const otherFormats = new Set(['uuid', 'date-time', 'date', 'time', 'duration']);

const scalars = new Set(['string', 'number', 'integer', 'boolean', 'date-time']);

/** Returns the fields that `q` searches by default: all fields with text or an array of text. */
function textFields({ properties = {} }: JsonSchema): readonly string[] {
  return fieldsOf(
    properties,
    (schema) => isText(schema) || (schema.items !== undefined && isText(schema.items)),
  );
}

/** Returns the fields that `sort` accepts by default: all fields with a single value. */
function scalarFields({ properties = {} }: JsonSchema): readonly string[] {
  return fieldsOf(properties, (schema) => {
    const types = typesOf(schema).filter((type) => type !== 'null');
    return types.length > 0 && types.every((type) => scalars.has(type));
  });
}

function isText(schema: JsonSchema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(isText);
  return typesOf(schema).includes('string') && !otherFormats.has(schema.format ?? '');
}

function fieldsOf(
  properties: Readonly<Record<string, JsonSchema>>,
  matches: (schema: JsonSchema) => boolean,
): readonly string[] {
  return Object.entries(properties).flatMap(([field, schema]) => (matches(schema) ? [field] : []));
}
