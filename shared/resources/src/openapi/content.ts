import { nameInProse, namesInProse, pluralOf } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import type { ResponseObject } from './document-types.js';
import { selectionReference } from './schemas.js';

/** Returns the content of a body: one item or an array of items, with an example of each. */
export function oneOrMany(
  resource: Resource,
  schema: JsonSchema,
  value: unknown,
): NonNullable<ResponseObject['content']> {
  const one = nameInProse(resource);
  const examples = {
    one: { summary: `One ${one}`, value },
    many: { summary: `Several ${pluralOf(one)}`, value: [value] },
  };
  return { 'application/json': { schema, examples } };
}

/** Returns the schema of a page of items: the response to GET on a collection. */
export function pageSchema(resource: Resource): JsonSchema {
  const { limits, singular } = resource;
  const description = `One page of ${namesInProse(resource)}.`;
  return {
    type: 'array',
    description,
    minItems: 0,
    maxItems: limits.max,
    items: selectionReference(singular),
  };
}

/**
 * Returns an OpenAPI request body with one example.
 * @param types the accepted media types
 */
export function body(
  schema: JsonSchema,
  example: unknown,
  types = ['application/json'],
): Readonly<Record<string, unknown>> {
  return {
    description: 'The body of the request.',
    required: true,
    content: Object.fromEntries(types.map((type) => [type, { schema, example }])),
  };
}
