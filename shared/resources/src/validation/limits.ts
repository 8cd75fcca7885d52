import { type JsonSchema, typesOf } from './json-schema.js';
import { mapValues } from './map-values.js';

/** Limits for the parts of a body that the schema does not limit. */
const defaultLimits = { characters: 10_000, elements: 1_000, members: 1_000 };

/** Maximum length of text, in characters, by format. */
const charactersOf: ReadonlyMap<string, number> = new Map([
  ['uuid', 36],
  ['date-time', 35],
  ['date', 10],
  ['email', 254],
]);

/**
 * Adds limits to the parts of a schema that have none:
 * - Text, arrays and objects get a maximum size.
 * - Integers get the range that JSON numbers represent exactly.
 * - Objects with listed members allow other members only if the schema does.
 *
 * Parts that allow any JSON are limited only by the size of the body.
 */
export function limited(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: schema.anyOf.map(limited) };
  if (schema.enum !== undefined || schema.const !== undefined) return schema;
  const types = typesOf(schema);
  if (types.includes('object')) return limitedObject(schema);
  if (types.includes('array'))
    return {
      maxItems: defaultLimits.elements,
      ...schema,
      ...(schema.items && { items: limited(schema.items) }),
    };
  if (types.includes('integer'))
    return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema };
  if (types.includes('string') || types.includes('date-time')) {
    const maxLength = Math.min(
      schema.maxLength ?? defaultLimits.characters,
      charactersOf.get(schema.format ?? '') ?? Infinity,
    );
    return { ...schema, maxLength };
  }
  return schema;
}

function limitedObject(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties = properties === undefined } = schema;
  return {
    ...(additionalProperties !== false && { maxProperties: defaultLimits.members }),
    ...schema,
    ...(properties && { properties: mapValues(properties, limited) }),
    additionalProperties:
      typeof additionalProperties === 'object' ? limited(additionalProperties) : additionalProperties,
  };
}
