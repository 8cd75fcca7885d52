import { capitalized, nameInProse, namesInProse, withArticle } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { maxElements } from '../validation/large-body.js';

/** Returns the schema of a body that is one item or an array of items. */
export function oneOrManyOf(resource: Resource, one: JsonSchema, many: JsonSchema): JsonSchema {
  return {
    description: `${capitalized(withArticle(nameInProse(resource)))}, or an array of ${namesInProse(resource)}.`,
    oneOf: [one, many],
  };
}

/** Returns the schema of the response to a bulk request: an array with one item for each item of the request. */
export function arrayOf(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `The ${namesInProse(resource)}, in the order of the request.`;
  return { type: 'array', description, minItems: 1, maxItems: maxElements, items };
}

/**
 * Returns the schema of an array in a request. The description states the limit. There is no `maxItems`, because test
 * tools would generate arrays of this size.
 */
export function listBody(resource: Resource, items: JsonSchema): JsonSchema {
  const description = `1 to ${maxElements.toLocaleString('en')} ${namesInProse(resource)}.`;
  return { type: 'array', description, minItems: 1, items };
}
