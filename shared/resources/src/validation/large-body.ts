import { inSlices } from '@longshore/edge';
import { apiError, ProblemList } from '../errors/api-error.js';
import { join, type JsonSchema } from './json-schema.js';
import { validatorFor } from './validator.js';

/** Maximum number of items that one request can create or change. */
export const maxElements = 10_000;

/**
 * Checks that an array has 1 to 10,000 items.
 * @throws {ApiError} 42202
 */
export function requireElements(elements: readonly unknown[]): void {
  if (elements.length === 0)
    throw apiError(42202, 'the body must have at least one element: an empty array changes nothing');
  if (elements.length > maxElements)
    throw apiError(42202, `the body must have at most ${maxElements} elements, not ${elements.length}`);
}

/**
 * Checks a body and adds its problems to `problems`. Checks arrays of objects last and in time slices, so that other
 * requests are served in between. Skips these arrays if the rest of the body has problems.
 */
export async function checkBody(schema: JsonSchema, body: unknown, problems: ProblemList): Promise<void> {
  const { shape, lists } = split(schema);
  const ofShape = validatorFor(shape).check(body);
  problems.addAll(ofShape);
  if (typeof body !== 'object' || body === null || ofShape.length > 0) return;
  const members = new Map<string, unknown>(Object.entries(body));
  for (const [name, items] of lists) {
    const elements = members.get(name);
    if (!Array.isArray(elements)) continue;
    const { check } = validatorFor(items);
    await inSlices(elements as unknown[], (element, index) =>
      problems.addAll(check(element, `${join('', name)}[${index}]`)),
    );
  }
}

interface Split {
  /** The schema without the element schemas of arrays of objects. */
  readonly shape: JsonSchema;
  /** The element schemas of the arrays of objects, each with the name of the array's field. */
  readonly lists: readonly (readonly [name: string, items: JsonSchema])[];
}

const splits = new WeakMap<JsonSchema, Split>();

function split(schema: JsonSchema): Split {
  const known = splits.get(schema);
  if (known !== undefined) return known;
  const lists = Object.entries(schema.properties ?? {}).flatMap(([name, { items }]) =>
    items?.properties === undefined ? [] : [[name, items] as const],
  );
  const bare = Object.fromEntries(
    lists.map(([name]) => {
      const { items: _items, ...list } = schema.properties?.[name] ?? {};
      return [name, list] as const;
    }),
  );
  const made: Split = {
    shape: lists.length === 0 ? schema : { ...schema, properties: { ...schema.properties, ...bare } },
    lists,
  };
  splits.set(schema, made);
  return made;
}
