import fc from 'fast-check';
import type { Operation } from '@longshore/test-support';
import { headers } from './header-values.js';
import { illegal } from './illegal.js';
import { jsonText } from './json-text.js';
import { legal, type Vocabulary } from './legal.js';
import { json } from './odd-values.js';
import { type Pair, pathValue, anyPairs } from './parameter-values.js';
import type { Plan } from './plan.js';

type Body = string | Uint8Array;

/** Bodies that are malformed, that have the wrong type, or that JSON parsers may treat differently. */
const brokenBodies: fc.Arbitrary<Body> = fc.oneof(
  fc.constantFrom<Body>(
    '',
    '{',
    'null',
    '[]',
    '{}',
    '"text"',
    '{"name":"greet","name":"test"}',
    '{"__proto__":{"a":1}}',
    '\uFEFF{}',
    '{"name":"\\ud800"}',
    '{"name":"a\u0000b"}',
    "{'name':1}",
    'NaN',
    '[1,]',
    Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d),
    '['.repeat(50_000),
    `${'['.repeat(500)}${']'.repeat(500)}`,
    `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
  ),
  fc.uint8Array({ maxLength: 20 }),
);

/** Malformed or unusual query strings. */
const rawQueries = [
  '%',
  '%zz=1',
  'limit=%ff',
  'q=%00',
  '=',
  '&&',
  'limit',
  'limit=1&limit=2',
  'sort=',
  'x=1',
  '__proto__=1',
  'a[b]=c',
  '?',
  '+=+',
];

/** Generates valid and invalid requests for an operation. */
export function anyRequest(vocabulary: Vocabulary, operation: Operation): fc.Arbitrary<Plan> {
  const { parameters } = operation;
  const declared = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const takesBody = Object.keys(operation.bodies).length > 0;
  return fc
    .record({
      path: pathOf(vocabulary, operation),
      item: fc.nat(1_000),
      query: queryOf(vocabulary, operation),
      rawQuery: fc.oneof(
        { arbitrary: fc.constant(''), weight: 12 },
        { arbitrary: fc.constantFrom(...rawQueries), weight: 1 },
      ),
      headers: headers(declared, takesBody),
      body: takesBody ? anyBody(vocabulary, operation) : fc.constant(undefined),
    })
    .map(({ headers: given, ...plan }) => ({
      ...plan,
      operation,
      headers: { ...contentType(operation), ...given },
    }));
}

/** Generates well-formed requests. The item's state may still forbid the operation. */
export function fittingRequest(vocabulary: Vocabulary, operation: Operation): fc.Arbitrary<Plan> {
  const [media] = Object.values(operation.bodies);
  const body = media === undefined ? fc.constant(undefined) : legal(vocabulary, media.schema).map(jsonText);
  return fc.record({ item: fc.nat(1_000), body }).map(({ item, body: sent }) => ({
    operation,
    path: {},
    item,
    query: [],
    rawQuery: '',
    headers: contentType(operation),
    body: sent,
  }));
}

function contentType({ bodies }: Operation): Readonly<Record<string, string>> {
  const [type] = Object.keys(bodies);
  return type === undefined ? {} : { 'content-type': type };
}

function pathOf(
  vocabulary: Vocabulary,
  { parameters }: Operation,
): fc.Arbitrary<Readonly<Record<string, string>>> {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const values = Object.fromEntries(
    inPath.map((parameter) => [parameter.name, pathValue(vocabulary, parameter)]),
  );
  return fc.record(values).map((given) => {
    const set = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return Object.fromEntries(set);
  });
}

function queryOf(vocabulary: Vocabulary, { parameters }: Operation): fc.Arbitrary<readonly Pair[]> {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  if (inQuery.length === 0) return fc.constant([]);
  const pairs = fc.constantFrom(...inQuery).chain((parameter) => anyPairs(vocabulary, parameter));
  return fc.array(pairs, { maxLength: 3 }).map((list) => list.flat());
}

function anyBody(vocabulary: Vocabulary, { bodies }: Operation): fc.Arbitrary<Body> {
  const schema = Object.values(bodies)[0]?.schema ?? {};
  return fc.oneof(
    { arbitrary: legal(vocabulary, schema).map(jsonText), weight: 6 },
    { arbitrary: illegal(vocabulary, schema).map(jsonText), weight: 4 },
    { arbitrary: json.map(jsonText), weight: 1 },
    { arbitrary: brokenBodies, weight: 1 },
  );
}
