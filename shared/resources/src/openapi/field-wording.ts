import { nameInProse, singularOf } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';

/** Adds a description, derived from the field's name, to each field that has none. */
export function withDescriptions(
  resource: Pick<Resource, 'singular'> & Partial<Resource>,
  schema: JsonSchema,
): JsonSchema {
  return describedMembers(schema, nameInProse(resource));
}

function describedMembers(schema: JsonSchema, owner: string): JsonSchema {
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
    description: sentence(name, words, owner),
    ...describedMembers(schema, words),
    ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => describedMembers(one, words)) }),
    ...(schema.items && { items: describedMembers(schema.items, singularOf(words)) }),
  };
}

function sentence(name: string, words: string, owner: string): string {
  if (name === 'createdAt') return `When the ${owner} was created.`;
  if (name === 'updatedAt') return `When the ${owner} was last updated.`;
  const parent = /^(.+) ID$/.exec(words)?.[1];
  if (parent !== undefined) return `The ID of the ${parent}.`;
  return `The ${words} of the ${owner}.`;
}

/** Splits a field's name into words: `customerId` → `customer ID`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bid(s?)$/, 'ID$1');
}
