import { isDeepStrictEqual } from 'node:util';
import { canonicalTime } from '@longshore/edge';
import { type JsonSchema, typesOf } from './json-schema.js';
import { mapValues } from './map-values.js';

/** Returns whether two values of a schema are the same. Times are compared by value, whatever their notation. */
export function isSameValue(schema: JsonSchema, one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(canonical(schema, one), canonical(schema, other));
}

function canonical(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === 'string') {
    return typesOf(schema).includes('date-time') ? (canonicalTime(value) ?? value) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const alternatives = schema.anyOf ?? [schema];
  if (Array.isArray(value)) {
    const items = alternatives.find((alternative) => alternative.items !== undefined)?.items ?? {};
    return value.map((element) => canonical(items, element));
  }
  const properties = alternatives.find((alternative) => alternative.properties !== undefined)?.properties;
  return mapValues(value as Readonly<Record<string, unknown>>, (member, name) =>
    canonical(properties?.[name] ?? {}, member),
  );
}
