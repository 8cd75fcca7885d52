import { capitalized, nameInProse, pluralOf, withArticle } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { maxElements } from '../validation/large-body.js';
import type { ResponseObject } from './document-types.js';
import { selectionReference } from './schemas.js';

/** Describes a body that is one item or an array of items, with an example of each. */
export function oneOrMany(
  resource: Resource,
  oneOf: readonly JsonSchema[],
  value: unknown,
): NonNullable<ResponseObject['content']> {
  const one = nameInProse(resource);
  const many = pluralOf(one);
  const schema: JsonSchema = {
    description: `${capitalized(withArticle(one))}, or an array of ${many}.`,
    oneOf,
  };
  const examples = {
    one: { summary: `One ${one}`, value },
    many: { summary: `Several ${many}`, value: [value] },
  };
  return { 'application/json': { schema, examples } };
}

/** Describes the array in the answer to a bulk request. */
export function arrayOf(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `The ${namesInProse(resource)}, in the order of the request.`;
  return { type: 'array', description, minItems: 0, maxItems: maxElements, items };
}

/**
 * Describes an array in a request. Tools would generate arrays of `maxItems` elements, so only the description states the
 * limit.
 */
export function listBody(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `Up to ${maxElements.toLocaleString('en')} ${namesInProse(resource)}.`;
  return { type: 'array', description, minItems: 0, items };
}

/** Returns the plural of a resource's name as written in a sentence: `line items`. */
export function namesInProse(resource: Resource): string {
  return pluralOf(nameInProse(resource));
}

/** Describes the array in the answer to a list. */
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

/** Describes the body of a request. */
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
