import type { SentRequest } from './exchange.js';
import { parseJson } from './json.js';
import type { Schema } from './schema.js';

/** Resolves a schema that is a reference. Returns any other schema unchanged. */
export type Resolver = (schema: Schema) => Schema;

interface Alternatives {
  readonly whole: Schema;
  readonly fields: Schema;
}

const known = new WeakMap<Schema, Alternatives>();

/**
 * Returns the part of a response's schema that applies to a request. If the response depends on the request, the schema
 * lists alternatives:
 * - The response to an array of items is an array.
 * - Items can lack fields only if the request has the parameter `fields`.
 */
export function applicableSchema(given: Schema, { path, body }: SentRequest, resolve: Resolver): Schema {
  const schema = resolve(given);
  const [one, many] = schema.oneOf ?? [];
  if (one !== undefined && many?.type === 'array') return isArray(body) ? many : one;
  let alternatives = known.get(schema);
  if (alternatives === undefined) {
    alternatives = { whole: chosen(schema, 0, resolve), fields: chosen(schema, 1, resolve) };
    known.set(schema, alternatives);
  }
  return new URLSearchParams(path.split('?')[1] ?? '').has('fields')
    ? alternatives.fields
    : alternatives.whole;
}

/**
 * Chooses an alternative of an item's schema: complete items (0), or items with only some fields (1). Returns a schema
 * without these alternatives unchanged.
 */
function chosen(given: Schema, index: 0 | 1, resolve: Resolver): Schema {
  const schema = resolve(given);
  if (schema.items !== undefined) return { ...schema, items: chosen(schema.items, index, resolve) };
  const { anyOf = [] } = schema;
  return anyOf[1]?.$ref?.endsWith('Fields') === true ? (anyOf[index] ?? given) : given;
}

function isArray(body: unknown): boolean {
  return Array.isArray(typeof body === 'string' ? parseJson(body) : body);
}
