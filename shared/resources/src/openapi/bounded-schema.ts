import { type JsonSchema, typesOf } from '../validation/json-schema.js';
import { mapValues } from '../validation/map-values.js';

/**
 * Published upper bounds for text and arrays in answers. Answers stay below them because the size of stored items is
 * limited.
 */
const maxTextLength = 1_048_576;
const maxElements = 100_000;

/**
 * Completes the schema of an answer for the document: adds formats, the type of enumerations, and bounds where it has
 * none.
 */
export function bounded(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(bounded) };
  if (schema.enum !== undefined) return { ...typeOf(schema.enum), ...schema };
  if (schema.const !== undefined) return { ...typeOf([schema.const]), ...schema };
  const types = typesOf(schema);
  if (types.includes('object')) return boundedObject(schema);
  if (types.includes('array'))
    return { minItems: 0, maxItems: maxElements, ...schema, items: bounded(schema.items ?? {}) };
  if (types.includes('integer'))
    return { format: 'int64', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema };
  if (types.includes('number')) return { format: 'double', ...schema };
  if (types.includes('date-time')) return { minLength: 20, maxLength: 35, ...schema };
  if (!types.includes('string')) return { ...schema };
  const isRestricted = schema.format !== undefined || schema.pattern !== undefined;
  return {
    ...(!isRestricted && { pattern: String.raw`^[^\u0000]*$` }),
    minLength: schema.format === 'uuid' ? 36 : 0,
    maxLength: schema.format === 'uuid' ? 36 : maxTextLength,
    ...schema,
  };
}

/**
 * The largest published bound of an array. Tools generate values as large as the bound, and fail if it is larger than
 * this.
 */
const publishedElements = 1_000;

/**
 * Completes the schema of a request body, which already has all its limits. Array bounds that are too large for tools are
 * moved to the description.
 */
export function publishedBody(schema: JsonSchema): JsonSchema {
  return withoutLargeBounds(bounded(schema));
}

function withoutLargeBounds(schema: JsonSchema): JsonSchema {
  const { maxItems, ...rest } = schema;
  const isLarge = maxItems !== undefined && maxItems > publishedElements;
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

/** Returns the type of an enumeration's values, because code generators and forms rely on it. */
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
  if (properties === undefined)
    return { maxProperties: maxElements, ...schema, additionalProperties: additionalProperties ?? true };
  return { additionalProperties: false, ...schema, properties: mapValues(properties, bounded) };
}
