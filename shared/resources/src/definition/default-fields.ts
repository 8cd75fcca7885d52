import { type JsonSchema, typesOf } from '../validation/json-schema.js';

/** String formats that do not count as text. By default, `q` does not search fields with these formats. */
const otherFormats = new Set(['uuid', 'date-time', 'date', 'time', 'duration']);

const scalars = new Set(['string', 'number', 'integer', 'boolean', 'date-time']);

/** Returns the fields that `q` searches by default: all fields with text or an array of text. */
export function textFields({ properties = {} }: JsonSchema): readonly string[] {
  return fieldsOf(
    properties,
    (schema) => isText(schema) || (schema.items !== undefined && isText(schema.items)),
  );
}

/** Returns the fields that `sort` accepts by default: all fields with a single value. */
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
