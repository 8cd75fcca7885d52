import { nameInProse, singularOf } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';

/**
 * Derives a description from the field's name for each field that has none. Adds a missing full stop to existing
 * descriptions.
 */
export function withDescriptions(
  resource: Pick<Resource, 'singular'> & Partial<Resource>,
  schema: JsonSchema,
): JsonSchema {
  return describedMembers(schema, nameInProse(resource));
}

/** Like {@link withDescriptions}, for an object that the descriptions call `owner`. */
export function describedMembers(schema: JsonSchema, owner: string): JsonSchema {
  return {
    ...schema,
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, property]) => [name, described(property, name, owner)]),
      ),
    }),
  };
}

function described(schema: JsonSchema, name: string, owner: string): JsonSchema {
  const words = wordsOf(name);
  return {
    ...describedMembers(schema, words),
    description: schema.description === undefined ? sentence(name, words, owner) : ended(schema.description),
    ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => describedMembers(one, words)) }),
    ...(schema.items && { items: describedMembers(schema.items, singularOf(words)) }),
  };
}

/** Adds a full stop, unless the text already ends with `.`, `!` or `?`. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Verbs that a description uses without “was”: “When the attempt started”, but “When the queue was paused”. */
const activeVerbs = new Set(['ended', 'failed', 'finished', 'started']);

function sentence(name: string, words: string, owner: string): string {
  if (name === 'updatedAt') return `When the ${owner} was last updated.`;
  const event = /^([a-z]+ed)At$/.exec(name)?.[1];
  if (event !== undefined) return `When the ${owner} ${activeVerbs.has(event) ? '' : 'was '}${event}.`;
  const parent = /^(.+) ID$/.exec(words)?.[1];
  if (parent !== undefined) return `The ID of the ${parent}.`;
  return `The ${words} of the ${owner}.`;
}

/** Converts a field's name to words: `customerId` → `customer ID`. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bid(s?)$/, 'ID$1');
}
