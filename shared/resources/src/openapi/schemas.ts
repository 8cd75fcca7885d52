import { capitalized, nameInProse, withArticle } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { bounded } from './bounded-schema.js';

/** Returns the schemas of a resource: its item and the bodies that it accepts. */
export function resourceSchemas(resource: Resource): Readonly<Record<string, JsonSchema>> {
  const { singular, bodies } = resource;
  const one = nameInProse(resource);
  const an = withArticle(one);
  return {
    [schemaName(singular)]: { description: `${capitalized(an)}.`, ...bounded(resource.item) },
    [schemaName(`${singular} fields`)]: {
      ...bounded(resource.item),
      description: `The fields of ${an} selected by the parameter \`fields\`.`,
      required: [],
    },
    [schemaName(`${singular} create`)]: { description: `A new ${one}.`, ...ofBody(bodies.create) },
    [schemaName(`${singular} replace`)]: {
      description: `A full replacement of ${an}.`,
      ...ofBody(bodies.replace),
    },
    [schemaName(`${singular} patch`)]: { description: `Changes to ${an}.`, ...bounded(bodies.patch) },
    [schemaName(`${singular} bulk`)]: {
      description: `One ${one} of a bulk change.`,
      ...ofBody(bodies.bulk),
    },
  };
}

/** `line-item create` → `LineItemCreate`. */
export function schemaName(words: string): string {
  return words.replace(/(?:^|[- ])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `line-item` → `lineItem`. */
export function camelCase(dashed: string): string {
  return dashed.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the schema of an item or of the fields that the caller selected. */
export function itemOrFields(singular: string): JsonSchema {
  return { anyOf: [schemaReference(singular), schemaReference(`${singular} fields`)] };
}

export function schemaReference(words: string): JsonSchema & { readonly $ref: string } {
  return { $ref: `#/components/schemas/${schemaName(words)}` };
}

/** Makes fields with a default optional, as they are in bodies. */
function ofBody(schema: JsonSchema): JsonSchema {
  const { required, properties = {}, ...rest } = bounded(schema);
  const needed = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
}
