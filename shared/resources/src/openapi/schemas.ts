import { capitalized, nameInProse, namesInProse, pluralOf, withArticle } from '../definition/naming.js';
import type { Child, Operation, Resource } from '../definition/resource.js';
import { type JsonSchema, mapValues } from '../validation/json-schema.js';
import { maxElements } from '../validation/validator.js';
import { completedSchema, publishedBody } from './bounded-schema.js';
import type { ResponseObject } from './document-types.js';
import { NamedParts } from './named-parts.js';
import { withDescriptions } from './wording.js';

type Schemas = Readonly<Record<string, JsonSchema>>;

/**
 * Functions that build the schemas, by schema name. They run after all schema names are known, so that nested objects
 * do not take any of these names.
 */
type Plans = Readonly<Record<string, (parts: NamedParts) => JsonSchema>>;

/** Returns the schemas of resources and of the objects and unions nested in them. */
export function schemasOf(resources: readonly Resource[]): Schemas {
  const plans = Object.assign({}, ...resources.map(resourceSchemas)) as Plans;
  const parts = new NamedParts(Object.keys(plans));
  const schemas = mapValues(plans, (plan) => plan(parts));
  return { ...schemas, ...parts.schemas };
}

/**
 * Returns functions that create the schemas of a resource, by name: those of its item, of the bodies that it accepts,
 * and of the bodies that create its children.
 */
function resourceSchemas(resource: Resource): Plans {
  const { singular, bodies } = resource;
  const one = nameInProse(resource);
  const an = withArticle(one);
  const plan =
    (
      words: string,
      schema: () => JsonSchema,
      description: string,
      described: Resource = resource,
    ): Plans[string] =>
    (parts) => ({ description, ...fieldsOf(described, parts.separate(schemaName(words), schema())) });
  const item = plan(singular, () => completedSchema(resource.item), `${capitalized(an)}.`);
  return {
    [schemaName(singular)]: (parts) => {
      parts.register(schemaName(`${singular} create`), bodySchema(bodies.create));
      return item(parts);
    },
    [schemaName(`${singular} fields`)]: (parts) => ({
      ...item(parts),
      description: `The fields of ${an} selected by the parameter \`fields\`.`,
      required: [],
    }),
    [schemaName(`${singular} selection`)]: () => ({
      description: `The complete ${one}, or only the fields selected with \`fields\`.`,
      anyOf: [schemaReference(singular), schemaReference(`${singular} fields`)],
    }),
    [schemaName(`${singular} one or many`)]: () =>
      oneOrManyOf(resource, schemaReference(singular), arrayOf(resource, schemaReference(singular))),
    ...createSchemas(resource, `${singular} create`, (parts) => ({
      description: `A new ${one}.`,
      ...withDescriptions(
        resource,
        parts.separate(schemaName(`${singular} create`), bodySchema(bodies.create)),
      ),
    })),
    ...Object.fromEntries(
      [...resource.children.values()].flatMap((child) => Object.entries(createBelow(singular, child))),
    ),
    [schemaName(`${singular} replace`)]: plan(
      `${singular} replace`,
      () => bodySchema(bodies.replace),
      `A full replacement of ${an}.`,
    ),
    [schemaName(`${singular} patch`)]: plan(
      `${singular} patch`,
      () => publishedBody(bodies.patch),
      `Changes to ${an}.`,
    ),
    [schemaName(`${singular} bulk`)]: plan(
      `${singular} bulk`,
      () => bodySchema(bodies.bulk),
      `One ${one} of a bulk change.`,
      { ...resource, serverSet: resource.serverSet.filter((field) => field !== resource.key) },
    ),
    ...operationSchemas(resource.singular, [...resource.operations.values()]),
    ...operationSchemas(`${resource.singular} set`, [...resource.setOperations.values()]),
  };
}

function operationSchemas(
  words: string,
  operations: readonly Pick<Operation, 'verb' | 'summary' | 'body'>[],
): Plans {
  return Object.fromEntries(
    operations.flatMap(({ verb, summary, body }) => {
      if (body === undefined) return [];
      const name = schemaName(`${words} ${verb}`);
      const plan: Plans[string] = (parts) => ({
        description: `${summary}.`,
        ...withDescriptions({ singular: verb }, parts.separate(name, bodySchema(body))),
      });
      return [[name, plan]];
    }),
  );
}

/** Converts words to a schema name: `line-item create` → `LineItemCreate`. */
export function schemaName(words: string): string {
  return words.replace(/(?:^|[- ])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Converts a dashed name to camel case: `line-item` → `lineItem`. */
export function camelCase(dashed: string): string {
  return dashed.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a reference to the schema of a returned item: complete, or only the fields selected with `fields`. */
export function selectionReference(singular: string): JsonSchema {
  return schemaReference(`${singular} selection`);
}

export function schemaReference(words: string): JsonSchema & { readonly $ref: string } {
  return { $ref: `#/components/schemas/${schemaName(words)}` };
}

/**
 * Returns the name of the schema for the body of a POST. The name includes the parent if the path sets a required
 * field.
 */
export function createSchemaName({ resource, by }: Child, parent: string | undefined): string {
  const isGivenByPath = by !== undefined && (resource.bodies.create.required ?? []).includes(by);
  return `${resource.singular} create${isGivenByPath && parent !== undefined ? ` below ${parent}` : ''}`;
}

/**
 * Plans the schema of the body that creates a child below a parent. In this schema, the field that the path sets is
 * optional. Plans nothing if the path sets no required field.
 */
function createBelow(parent: string, child: Child): Plans {
  const { resource, by } = child;
  const words = createSchemaName(child, parent);
  if (words === `${resource.singular} create`) return {};
  return createSchemas(resource, words, (parts) => {
    const body = parts.separate(schemaName(words), bodySchema(resource.bodies.create));
    const { required = [], ...rest } = withDescriptions(resource, body);
    const needed = required.filter((field) => field !== by);
    const description = `A new ${nameInProse(resource)}. Its \`${by}\` is the one in the path.`;
    return { ...rest, description, ...(needed.length > 0 && { required: needed }) };
  });
}

/** Plans two schemas: one for a new item, and one for either a new item or an array of new items. */
function createSchemas(resource: Resource, words: string, one: Plans[string]): Plans {
  const reference = schemaReference(words);
  return {
    [schemaName(words)]: one,
    [schemaName(`${words} one or many`)]: () =>
      oneOrManyOf(resource, reference, listBody(resource, reference)),
  };
}

/** Returns the schema of a body as the OpenAPI document shows it. Fields with a default are optional. */
function bodySchema(schema: JsonSchema): JsonSchema {
  const { required, properties = {}, ...rest } = publishedBody(schema);
  const needed = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
}

/**
 * Adds a description to each field. Marks fields that only the server sets as `readOnly`; a PUT or PATCH may send them
 * back unchanged.
 */
function fieldsOf(resource: Resource, schema: JsonSchema): JsonSchema {
  const { serverSet } = resource;
  if (schema.properties === undefined) return schema;
  const properties = mapValues(withDescriptions(resource, schema).properties ?? {}, (property, name) =>
    serverSet.includes(name) ? { ...property, readOnly: true } : property,
  );
  return { ...schema, properties };
}

/** Returns the schema of a body that is one item or an array of items. */
function oneOrManyOf(resource: Resource, one: JsonSchema, many: JsonSchema): JsonSchema {
  return {
    description: `${capitalized(withArticle(nameInProse(resource)))}, or an array of ${namesInProse(resource)}.`,
    oneOf: [one, many],
  };
}

/** Returns the schema of the response to a bulk request: an array with one item for each item of the request. */
export function arrayOf(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `The ${namesInProse(resource)}, in the order of the request.`;
  return { type: 'array', description, minItems: 1, maxItems: maxElements, items };
}

/**
 * Returns the schema of an array in a request. The description states the limit. There is no `maxItems`, because test
 * tools would generate arrays of this size.
 */
export function listBody(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `1 to ${maxElements.toLocaleString('en')} ${namesInProse(resource)}.`;
  return { type: 'array', description, minItems: 1, items };
}

/** Returns the content of a body: one item or an array of items, with an example of each. */
export function oneOrMany(
  resource: Resource,
  schema: JsonSchema,
  value: unknown,
): NonNullable<ResponseObject['content']> {
  const one = nameInProse(resource);
  const examples = {
    one: { summary: `One ${one}`, value },
    many: { summary: `Several ${pluralOf(one)}`, value: [value] },
  };
  return { 'application/json': { schema, examples } };
}

/** Returns the schema of a page of items: the response to GET on a collection. */
export function pageSchema(resource: Resource): JsonSchema {
  const { limits, singular } = resource;
  const description = `One page of ${namesInProse(resource)}.`;
  return {
    type: 'array',
    description,
    minItems: 0,
    maxItems: limits.max,
    items: selectionReference(singular),
  };
}

/**
 * Returns an OpenAPI request body with one example.
 * @param types the accepted media types
 */
export function body(
  schema: JsonSchema,
  example: unknown,
  types = ['application/json'],
): Readonly<Record<string, unknown>> {
  return {
    description: 'The body of the request.',
    required: true,
    content: Object.fromEntries(types.map((type) => [type, { schema, example }])),
  };
}
