import fc from 'fast-check';
import { type Kind, kindsOf, resolve, type Schema } from '@longshore/test-support';
import { legal, type Vocabulary } from './legal.js';
import { json, oddNumbers, oddTexts } from './odd-values.js';

type Values = fc.Arbitrary<unknown>;

/** Only array limits below this number are exceeded, to keep requests small. */
const maxExceededArrayLimit = 10_001;

/** Generates values that a schema forbids, often just outside its limits. Some values may be valid by chance. */
export function illegal(vocabulary: Vocabulary, given: Schema, name = ''): Values {
  const schema = resolve(vocabulary.document, given);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    return fc.oneof(...alternatives.map((alternative) => illegal(vocabulary, alternative, name)));
  }
  const other: Values = fc.oneof(json, fc.constantFrom<unknown>(null, [], {}, '', 0, false));
  if (schema.enum !== undefined || schema.const !== undefined) {
    return fc.oneof(other, fc.constantFrom<unknown>(...oddTexts, 'DONE', 'done '));
  }
  return fc.oneof(
    { arbitrary: other, weight: 1 },
    ...kindsOf(schema).flatMap((kind) =>
      broken(vocabulary, kind, schema, name).map((arbitrary) => ({ arbitrary, weight: 2 })),
    ),
  );
}

function broken(vocabulary: Vocabulary, kind: Kind, schema: Schema, name: string): Values[] {
  switch (kind) {
    case 'object':
      return brokenObject(vocabulary, schema);
    case 'array':
      return brokenArray(vocabulary, schema, name);
    case 'string':
      return brokenText(schema);
    case 'integer':
    case 'number':
      return [fc.constantFrom<unknown>(...brokenNumbers(schema)), fc.constantFrom(...oddNumbers)];
    case 'boolean':
    case 'null':
    case 'any':
      return [json];
  }
}

/** Generates objects with one member missing, unknown or invalid, and all others valid. */
function brokenObject(vocabulary: Vocabulary, schema: Schema): Values[] {
  const { properties = {}, required = [] } = schema;
  // Restricted to objects, because the schema may also permit `null`.
  const whole = legal(vocabulary, { ...schema, type: 'object' }) as fc.Arbitrary<
    Readonly<Record<string, unknown>>
  >;
  const names = Object.keys(properties);
  if (names.length === 0) return [json];
  const extra = fc.constantFrom('extra', 'Id', ' ', '', '__proto__', 'constructor', 'toString', 'a.b', '\0');
  return [
    fc
      .tuple(whole, extra, json)
      .map(([value, name, member]) => Object.fromEntries([...Object.entries(value), [name, member]])),
    fc
      .constantFrom(...names)
      .chain((name) =>
        fc
          .tuple(whole, illegal(vocabulary, properties[name] ?? {}, name))
          .map(([value, member]) => ({ ...value, [name]: member })),
      ),
    ...(required.length === 0
      ? []
      : [
          fc
            .tuple(whole, fc.constantFrom(...required))
            .map(([value, name]) =>
              Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)),
            ),
        ]),
  ];
}

function brokenArray(vocabulary: Vocabulary, schema: Schema, name: string): Values[] {
  const { items = {}, minItems = 0, maxItems = Infinity, uniqueItems = false } = schema;
  const element = legal(vocabulary, items, name);
  const some = fc.array(element, { minLength: 1, maxLength: 2 });
  return [
    fc.tuple(some, illegal(vocabulary, items, name)).map(([values, value]) => [...values, value]),
    ...(minItems > 0 ? [fc.constant([])] : []),
    ...(uniqueItems ? [element.map((value) => [value, value])] : []),
    ...(maxItems < maxExceededArrayLimit
      ? [
          fc
            .tuple(element, fc.nat(20))
            .map(([value, chance]) =>
              Array.from({ length: chance === 0 || maxItems < 200 ? maxItems + 1 : 3 }, () => value),
            ),
        ]
      : []),
  ];
}

function brokenText({ minLength = 0, maxLength = Infinity }: Schema): Values[] {
  const lengths = [minLength - 1, maxLength + 1].filter((length) => length >= 0 && length <= 20_000);
  return [
    fc.constantFrom(...oddTexts),
    ...(lengths.length === 0 ? [] : [fc.constantFrom(...lengths.map((length) => 'x'.repeat(length)))]),
    fc.constant('x'.repeat(20_000)),
    fc.constantFrom<unknown>(0, true, ['x'], { text: 'x' }),
  ];
}

function brokenNumbers({ minimum, maximum }: Schema): readonly unknown[] {
  return [
    ...(minimum === undefined ? [] : [minimum - 1, minimum - 0.5]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum + 0.5]),
    '1',
    1.5,
    2 ** 53,
    1e300,
    '',
  ];
}
