import type { SentRequest } from './exchange.js';
import { parseJson } from './json.js';
import type { Schema } from './schema.js';

interface Alternatives {
  readonly whole: Schema;
  readonly fields: Schema;
}

const known = new WeakMap<Schema, Alternatives>();

/**
 * Returns the part of an answer's schema that applies to a request. The document lists alternatives where an answer depends
 * on the request, and explains in words when each applies: a request with an array gets an array, and items are partial
 * only if the request has the parameter `fields`.
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

/** Returns the schema with one of its alternatives: whole items (0) or items with some of their fields (1). */
function chosen(schema: Schema, index: 0 | 1): Schema {
  if (schema.items !== undefined) return { ...schema, items: chosen(schema.items, index) };
  const { anyOf = [] } = schema;
  return anyOf[1]?.$ref?.endsWith('Fields') === true ? (anyOf[index] ?? schema) : schema;
}

function isArray(body: unknown): boolean {
  return Array.isArray(typeof body === 'string' ? parseJson(body) : body);
}
