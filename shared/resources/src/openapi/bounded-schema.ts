import { type JsonSchema, mapValues, typesOf } from '../validation/json-schema.js';

/** Letters, digits and signs in dot-separated parts, as the format `email` of Ajv has it. */
const emailPattern = String.raw`^[\w!#$%&'*+/=?^{|}~\x60-]+(\.[\w!#$%&'*+/=?^{|}~\x60-]+)*@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`;
const uuidPattern = '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';

/**
 * Completes a schema for the OpenAPI document: adds formats, patterns, the types of enumerations,
 * `additionalProperties`, and the bounds that a type or format implies, such as 36 characters for a UUID. Adds no other
 * limits.
 */
export function completedSchema(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined)
    return boundedUnion({ ...schema, anyOf: schema.anyOf.map(completedSchema) });
  if (schema.enum !== undefined) return { ...typeOf(schema.enum), ...schema };
  if (schema.const !== undefined) return { ...typeOf([schema.const]), ...schema };
  const types = typesOf(schema);
  if (types.includes('object')) return boundedObject(schema);
  if (types.includes('array')) return { minItems: 0, ...schema, items: completedSchema(schema.items ?? {}) };
  if (types.includes('integer'))
    return { format: 'int64', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema };
  if (types.includes('number')) return { format: 'double', ...schema };
  if (types.includes('date-time')) return { minLength: 20, maxLength: 35, ...schema };
  if (!types.includes('string')) return { ...schema };
  if (schema.format === 'uuid') return { minLength: 36, maxLength: 36, pattern: uuidPattern, ...schema };
  if (schema.format === 'date') return { minLength: 10, maxLength: 10, ...schema };
  if (schema.format === 'email') return { minLength: 3, maxLength: 254, pattern: emailPattern, ...schema };
  return {
    ...(schema.format === undefined && { pattern: String.raw`^[^\u0000]*$` }),
    minLength: 0,
    ...schema,
  };
}

/**
 * Converts a union of one type and null to a list of types, because tools and readers understand a list more easily.
 * Does not change other unions.
 */
function boundedUnion({ anyOf = [], ...rest }: JsonSchema): JsonSchema {
  const [one, ...alternatives] = anyOf.filter(({ type }) => type !== 'null');
  const allowsNull = anyOf.some(({ type }) => type === 'null');
  if (!allowsNull || one?.type === undefined || one.const !== undefined || alternatives.length > 0)
    return { ...rest, anyOf };
  return {
    ...one,
    ...rest,
    type: [one.type, 'null'].flat(),
    ...(one.enum && { enum: [...one.enum, null] }),
  };
}

/**
 * Largest `maxItems` that the document publishes. Some tools generate arrays with `maxItems` elements, and fail if the
 * arrays are larger than this.
 */
const maxPublishedItems = 1_000;

/**
 * Completes the schema of a request body for the OpenAPI document. The schema must already have limits. Where
 * `maxItems` exceeds {@link maxPublishedItems}, the description states the limit instead.
 */
export function publishedBody(schema: JsonSchema): JsonSchema {
  return withoutLargeBounds(completedSchema(schema));
}

function withoutLargeBounds(schema: JsonSchema): JsonSchema {
  const { maxItems, ...rest } = schema;
  const isLarge = maxItems !== undefined && maxItems > maxPublishedItems;
  const description = [schema.description?.replace(/\.$/, ''), `At most ${maxItems} elements`]
    .filter((sentence) => sentence !== undefined)
    .join('. ');
  return {
    ...(isLarge ? { ...rest, description: `${description}.` } : schema),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(withoutLargeBounds) }),
    ...(schema.items && { items: withoutLargeBounds(schema.items) }),
    ...(schema.properties && { properties: mapValues(schema.properties, withoutLargeBounds) }),
  };
}

/** Returns the type of an enumeration's values. Code generators and forms need the type in addition to `enum`. */
function typeOf(values: readonly unknown[]): Pick<JsonSchema, 'type'> {
  const types = [...new Set(values.map(nameOfType))];
  const [first] = types;
  return types.length === 1 && first !== undefined ? { type: first } : { type: types };
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function boundedObject(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) return { ...schema, additionalProperties: additionalProperties ?? true };
  return { additionalProperties: false, ...schema, properties: mapValues(properties, completedSchema) };
}
