import { capitalized, nameInProse, withArticle } from '../definition/naming.js';
import type { Child, Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { mapValues } from '../validation/map-values.js';
import { arrayOf, listBody, oneOrManyOf } from './array-schemas.js';
import { bounded, publishedBody } from './bounded-schema.js';
import { withDescriptions } from './field-wording.js';

/** Returns the schemas of a resource: its item, the bodies that it accepts, and those that create its children. */
export function resourceSchemas(resource: Resource): Readonly<Record<string, JsonSchema>> {
  const { singular, bodies } = resource;
  const one = nameInProse(resource);
  const an = withArticle(one);
  const item = fieldsOf(resource, bounded(resource.item));
  return {
    [schemaName(singular)]: { description: `${capitalized(an)}.`, ...item },
    [schemaName(`${singular} fields`)]: {
      ...item,
      description: `The fields of ${an} selected by the parameter \`fields\`.`,
      required: [],
    },
    [schemaName(`${singular} selection`)]: {
      description: `The complete ${one}, or only the fields selected with \`fields\`.`,
      anyOf: [schemaReference(singular), schemaReference(`${singular} fields`)],
    },
    [schemaName(`${singular} one or many`)]: oneOrManyOf(
      resource,
      schemaReference(singular),
      arrayOf(resource, schemaReference(singular)),
    ),
    ...createSchemas(resource, `${singular} create`, {
      description: `A new ${one}.`,
      ...withDescriptions(resource, bodySchema(bodies.create)),
    }),
    ...Object.fromEntries(
      [...resource.children.values()].flatMap((child) => Object.entries(createBelow(singular, child))),
    ),
    [schemaName(`${singular} replace`)]: {
      description: `A full replacement of ${an}.`,
      ...ofBody(resource, bodies.replace),
    },
    [schemaName(`${singular} patch`)]: {
      description: `Changes to ${an}.`,
      ...fieldsOf(resource, publishedBody(bodies.patch)),
    },
    [schemaName(`${singular} bulk`)]: {
      description: `One ${one} of a bulk change.`,
      ...fieldsOf(
        { ...resource, serverSet: resource.serverSet.filter((field) => field !== resource.key) },
        bodySchema(bodies.bulk),
      ),
    },
    ...operationSchemas(resource),
  };
}

/** Returns the schemas of the bodies of special operations. */
function operationSchemas({ singular, operations }: Resource): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    [...operations.values()].flatMap(({ verb, summary, body }) => {
      if (body === undefined) return [];
      const schema = withDescriptions({ singular: verb }, bodySchema(body));
      return [[schemaName(`${singular} ${verb}`), { description: `${summary}.`, ...schema }]];
    }),
  );
}

/** `line-item create` → `LineItemCreate`. */
export function schemaName(words: string): string {
  return words.replace(/(?:^|[- ])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `line-item` → `lineItem`. */
export function camelCase(dashed: string): string {
  return dashed.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Refers to the schema of an item, or of the fields that the caller selected. */
export function selectionReference(singular: string): JsonSchema {
  return schemaReference(`${singular} selection`);
}

export function schemaReference(words: string): JsonSchema & { readonly $ref: string } {
  return { $ref: `#/components/schemas/${schemaName(words)}` };
}

/** Returns the name of the schema for the body of a POST, which may differ below a parent. */
export function createSchemaName({ resource, by }: Child, parent: string | undefined): string {
  const isGivenByPath = by !== undefined && (resource.bodies.create.required ?? []).includes(by);
  return `${resource.singular} create${isGivenByPath && parent !== undefined ? ` below ${parent}` : ''}`;
}

/**
 * Returns the schema of a new child, by name, in which the field that the path gives is optional; none if it is not a
 * required field.
 */
function createBelow(parent: string, child: Child): Readonly<Record<string, JsonSchema>> {
  const { resource, by } = child;
  const words = createSchemaName(child, parent);
  if (words === `${resource.singular} create`) return {};
  const { required = [], ...rest } = withDescriptions(resource, bodySchema(resource.bodies.create));
  const needed = required.filter((field) => field !== by);
  const description = `A new ${nameInProse(resource)}. Its \`${by}\` is the one in the path.`;
  return createSchemas(resource, words, {
    ...rest,
    description,
    ...(needed.length > 0 && { required: needed }),
  });
}

/** Returns two schemas: a new item, and one or many new items. */
function createSchemas(
  resource: Resource,
  words: string,
  schema: JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  const reference = schemaReference(words);
  return {
    [schemaName(words)]: schema,
    [schemaName(`${words} one or many`)]: oneOrManyOf(resource, reference, listBody(resource, reference)),
  };
}

function ofBody(resource: Resource, schema: JsonSchema): JsonSchema {
  return fieldsOf(resource, bodySchema(schema));
}

/** Returns the schema of a body, in which fields with a default are optional. */
export function bodySchema(schema: JsonSchema): JsonSchema {
  const { required, properties = {}, ...rest } = publishedBody(schema);
  const needed = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
}

/** Describes all fields, and marks those that only the server sets. A PUT or PATCH may send them back unchanged. */
function fieldsOf(resource: Resource, schema: JsonSchema): JsonSchema {
  const { serverSet } = resource;
  if (schema.properties === undefined) return schema;
  const properties = mapValues(withDescriptions(resource, schema).properties ?? {}, (property, name) =>
    serverSet.includes(name) ? { ...property, readOnly: true } : property,
  );
  return { ...schema, properties };
}
