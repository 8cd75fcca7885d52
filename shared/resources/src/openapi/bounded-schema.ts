import { type JsonSchema, typesOf } from '../validation/json-schema.js';

/** Upper bounds that follow from the limit on the size of a body. */
const maxTextLength = 1_048_576;
const maxElements = 100_000;

/**
 * Adds the bounds that hold for every request where a schema has none: text without NUL that fits into a body, integers that
 * JSON numbers represent exactly.
 */
export function bounded(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(bounded) };
  const types = typesOf(schema);
  if (schema.enum !== undefined || schema.const !== undefined) return { ...schema };
  if (types.includes('object')) return boundedObject(schema);
  if (types.includes('array')) {
    return { maxItems: maxElements, ...schema, items: bounded(schema.items ?? {}) };
  }
  if (types.includes('integer')) {
    return { format: 'int64', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema };
  }
  if (types.includes('number')) return { format: 'double', ...schema };
  if (types.includes('string')) {
    const restricted = schema.format !== undefined || schema.pattern !== undefined;
    const length = Math.min(
      schema.maxLength ?? maxTextLength,
      fixedLengths.get(schema.format ?? '') ?? maxTextLength,
    );
    return { ...(restricted ? {} : { pattern: String.raw`^[^\u0000]*$` }), ...schema, maxLength: length };
  }
  return types.includes('date-time') ? { ...schema, maxLength: 40 } : { ...schema };
}

const fixedLengths: ReadonlyMap<string, number> = new Map([
  ['uuid', 36],
  ['date', 10],
  ['email', 254],
]);

function boundedObject(schema: JsonSchema): JsonSchema {
  if (schema.properties === undefined) {
    return {
      maxProperties: maxElements,
      ...schema,
      additionalProperties: schema.additionalProperties ?? true,
    };
  }
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, bounded(property)]),
  );
  return { additionalProperties: false, ...schema, properties };
}
