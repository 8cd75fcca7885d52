import type { SentRequest } from './exchange.js';
import { parseJson } from './json.js';
import type { Schema } from './schema.js';

interface Alternatives {
  readonly whole: Schema;
  readonly fields: Schema;
}

const known = new WeakMap<Schema, Alternatives>();

/**
 * Returns the part of an answer's schema that applies to a request. The document lists alternatives where an answer depends on
 * the request, and explains in words when each applies: an array answers an array, and only `fields` makes an item partial.
 */
export function promisedSchema(schema: Schema, { path, body }: SentRequest): Schema {
  const [one, many] = schema.oneOf ?? [];
  if (one !== undefined && many?.type === 'array') return isArray(body) ? many : one;
  let alternatives = known.get(schema);
  if (alternatives === undefined) {
    alternatives = { whole: chosen(schema, 0), fields: chosen(schema, 1) };
    known.set(schema, alternatives);
  }
  return new URLSearchParams(path.split('?')[1] ?? '').has('fields')
    ? alternatives.fields
    : alternatives.whole;
}

/** Chooses between an item and its fields, in the schema itself or in that of the elements. */
function chosen(schema: Schema, index: 0 | 1): Schema {
  if (schema.items !== undefined) return { ...schema, items: chosen(schema.items, index) };
  const { anyOf = [] } = schema;
  return anyOf[1]?.$ref?.endsWith('Fields') === true ? (anyOf[index] ?? schema) : schema;
}

function isArray(body: unknown): boolean {
  return Array.isArray(typeof body === 'string' ? parseJson(body) : body);
}
