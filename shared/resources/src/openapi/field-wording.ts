import { nameInProse, singularOf } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';

/**
 * Adds a description, derived from the field's name, to each field without a description. Ends existing descriptions
 * with a full stop.
 */
export function withDescriptions(
  resource: Pick<Resource, 'singular'> & Partial<Resource>,
  schema: JsonSchema,
): JsonSchema {
  return describedMembers(schema, nameInProse(resource));
}

/** Adds descriptions to the members of an object. The descriptions refer to the object as `owner`. */
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

/** Adds a full stop to a text, unless it already ends like a sentence. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Verbs that a description uses without “was”: an attempt “started”, but a queue “was paused”. */
const activeVerbs = new Set(['ended', 'failed', 'finished', 'started']);

function sentence(name: string, words: string, owner: string): string {
  if (name === 'updatedAt') return `When the ${owner} was last updated.`;
  const event = /^([a-z]+ed)At$/.exec(name)?.[1];
  if (event !== undefined) return `When the ${owner} ${activeVerbs.has(event) ? '' : 'was '}${event}.`;
  const parent = /^(.+) ID$/.exec(words)?.[1];
  if (parent !== undefined) return `The ID of the ${parent}.`;
  return `The ${words} of the ${owner}.`;
}

/** Splits a field's name into words: `customerId` → `customer ID`. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bid(s?)$/, 'ID$1');
}
