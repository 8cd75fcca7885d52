import { type OpenApiDocument, resolve } from './operations.js';
import { kindsOf, type Schema } from './schema.js';

/** Texts at the edges of patterns and formats. */
const texts: readonly string[] = [
  '',
  ' ',
  'a',
  'a b',
  'A.b_c-d:e',
  '-a',
  'é',
  '😀',
  'a\nb',
  'a\0b',
  '*',
  '"abc"',
  'W/"abc"',
  '"a", W/"b"',
  'a@b',
  'a@b.c',
  'jane@example.com',
  'UTC',
  'Europe/Berlin',
  'https://example.com/',
  '2026-01-31',
  '2026-01-31T09:30:00Z',
  '2026-01-31t09:30:00.123456+14:00',
  '2026-01-31T09:30:00.000Z/0198c6e0-7b5e-7c3a-9f2e-3d1b5a7c9e01/2026-01-31T09:00:00.000Z',
  '2026-02-30T00:00:00Z',
  '0198c6e0-7b5e-7c3a-9f2e-3d1b5a7c9e01',
  '0198C6E0-7B5E-7C3A-9F2E-3D1B5A7C9E01',
  '0',
  '-1',
  '1.5',
  '1e3',
  'true',
  'null',
];

const others: readonly unknown[] = [null, true, false, -1, 0, 1, 1.5, 1e300, [], {}, [null], ['a'], { a: 1 }];

/** Longer texts and arrays are not sent, to keep requests small. */
const maxLength = 2_000;
const maxItems = 101;

/** A part of a body, by the names of the members that lead to it, and values that its schema may or may not allow. */
export interface Candidates {
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

/**
 * Returns values for each part of a body that clients may set: those at the limits of the part's schema, those just
 * beyond, and some of every type. Whether the document allows them is for its schemas to say.
 *
 * @param depth how many levels of members to look at
 */
export function candidatesOf(document: OpenApiDocument, given: Schema, depth = 2): readonly Candidates[] {
  const schema = wholeOf(document, given);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const member = wholeOf(document, property);
    if (property.readOnly === true || member.readOnly === true) return [];
    const below = depth > 1 ? candidatesOf(document, member, depth - 1) : [];
    return [
      { path: [name], values: valuesFor(document, member) },
      ...below.map(({ path, values }) => ({ path: [name, ...path], values })),
    ];
  });
}

/** Returns values for one schema, at its limits and beyond. */
export function valuesFor(document: OpenApiDocument, given: Schema): readonly unknown[] {
  const schema = wholeOf(document, given);
  const { minLength = 0, maxLength: longest, minimum, maximum, minItems = 0, maxItems: most, items } = schema;
  const lengths = [minLength - 1, minLength, longest ?? 0, (longest ?? 0) + 1];
  const numbers = [minimum, maximum].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1],
  );
  const counts = [minItems - 1, minItems, most ?? 0, (most ?? 0) + 1];
  return [
    ...(schema.enum ?? []),
    ...texts,
    ...others,
    ...lengths.filter((length) => length > 1 && length <= maxLength).map((length) => 'a'.repeat(length)),
    ...numbers.filter(Number.isSafeInteger),
    ...(items === undefined
      ? []
      : counts
          .filter((count) => count > 0 && count <= maxItems)
          .map((count) => Array.from({ length: count }, (_, index) => elementOf(document, items, index)))),
  ];
}

/** Returns a schema without references and without the alternative `null`. */
function wholeOf(document: OpenApiDocument, given: Schema): Schema {
  const schema = resolve(document, given);
  const [only, ...rest] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only === undefined || rest.length > 0 ? schema : { ...schema, ...wholeOf(document, only) };
}

/** Returns an element that the schema of an array probably allows, a different one for each index if possible. */
function elementOf(document: OpenApiDocument, given: Schema, index: number): unknown {
  const schema = wholeOf(document, given);
  if (schema.enum !== undefined) return schema.enum[index % schema.enum.length];
  if (schema.format === 'uuid') return `0198c6e0-7b5e-7c3a-9f2e-3d1b5a7c9${String(index).padStart(3, '0')}`;
  const [kind] = kindsOf(schema);
  if (kind === 'integer' || kind === 'number') return (schema.minimum ?? 0) + index;
  return kind === 'object' ? {} : `a${index}`;
}
