import { type JsonSchema, typesOf } from '../validation/json-schema.js';

/** Formats of strings that are not text, so that `q` does not search them by default. */
const otherFormats = new Set(['uuid', 'date-time', 'date', 'time', 'duration']);

const scalars = new Set(['string', 'number', 'integer', 'boolean', 'date-time']);

/** Returns the fields that hold text or arrays of text, which are the ones that `q` searches by default. */
export function textFields({ properties = {} }: JsonSchema): readonly string[] {
  return fieldsOf(
    properties,
    (schema) => isText(schema) || (schema.items !== undefined && isText(schema.items)),
  );
}

/** Returns the fields with a single value, which are the ones that `sort` accepts by default. */
export function scalarFields({ properties = {} }: JsonSchema): readonly string[] {
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
