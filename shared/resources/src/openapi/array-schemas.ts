import { capitalized, nameInProse, namesInProse, withArticle } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { maxElements } from '../validation/large-body.js';

/** Describes a body that is one item or an array of items. */
export function oneOrManyOf(resource: Resource, one: JsonSchema, many: JsonSchema): JsonSchema {
  return {
    description: `${capitalized(withArticle(nameInProse(resource)))}, or an array of ${namesInProse(resource)}.`,
    oneOf: [one, many],
  };
}

/** Describes the array in the response to a bulk request, which has the same length as the array in the request. */
export function arrayOf(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `The ${namesInProse(resource)}, in the order of the request.`;
  return { type: 'array', description, minItems: 0, maxItems: maxElements, items };
}

/**
 * Describes an array in a request. The limit appears only in the description, because tools would generate arrays of
 * `maxItems` elements.
 */
export function listBody(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `Up to ${maxElements.toLocaleString('en')} ${namesInProse(resource)}.`;
  return { type: 'array', description, minItems: 0, items };
}
