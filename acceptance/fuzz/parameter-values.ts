import fc from 'fast-check';
import { type Parameter, resolve } from '@longshore/test-support';
import { memberNames } from './domain-values.js';
import { illegal } from './illegal.js';
import { jsonText } from './json-text.js';
import { legal, type Vocabulary } from './legal.js';
import { oddNumbers, oddTexts } from './odd-values.js';
import { placeholder } from './placeholder.js';

/** Name and value of a query parameter, before encoding. */
export type Pair = readonly [name: string, value: string];

/** Maps each parameter whose value comes from an earlier response to the name of its placeholder. */
const fromAnswers: Readonly<Record<string, string>> = { after: 'cursor', before: 'cursor' };

/**
 * Generates name–value pairs that set a query parameter to a valid value. An exploded array has one pair per element;
 * everything else is a single pair.
 */
export function legalPairs(vocabulary: Vocabulary, parameter: Parameter): fc.Arbitrary<readonly Pair[]> {
  const { name } = parameter;
  const source = fromAnswers[name];
  if (source !== undefined) return fc.nat(100).map((number) => [[name, placeholder(source, number)]]);
  return inQuery(vocabulary, parameter, legal(vocabulary, parameter.schema, name));
}

/** Like {@link legalPairs}, but the value may be invalid. */
export function anyPairs(vocabulary: Vocabulary, parameter: Parameter): fc.Arbitrary<readonly Pair[]> {
  const { name, schema } = parameter;
  const odd = fc.oneof(
    illegal(vocabulary, schema, name),
    fc.constantFrom<unknown>(...oddNumbers, ...oddTexts, 'W10', 'WyJpZCJd', 'bnVsbA'),
  );
  return fc.oneof(
    { arbitrary: legalPairs(vocabulary, parameter), weight: 3 },
    { arbitrary: inQuery(vocabulary, parameter, odd), weight: 2 },
  );
}

function inQuery(
  vocabulary: Vocabulary,
  { name, schema: given, explode = true }: Parameter,
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<readonly Pair[]> {
  const schema = resolve(vocabulary.document, given);
  if (schema.type === 'object') {
    const path = fc.constantFrom(...memberNames);
    return fc
      .tuple(path, value)
      .map(([member, given]) => [
        [`${name}.${member}`, asText(isObject(given) ? (Object.values(given)[0] ?? '') : given)],
      ]);
  }
  return value.map((given) => {
    if (!Array.isArray(given)) return [[name, asText(given)]];
    return explode
      ? given.map((element) => [name, asText(element)] as const)
      : [[name, given.map(asText).join(',')]];
  });
}

/** Generates values of a path parameter. `undefined` stands for the value of an existing item. */
export function pathValue(
  vocabulary: Vocabulary,
  { name, schema }: Parameter,
): fc.Arbitrary<string | undefined> {
  const odd = fc
    .oneof(legal(vocabulary, schema, name), illegal(vocabulary, schema, name), fc.constantFrom(...oddTexts))
    .map(asText)
    // Avoids empty segments, which would change the path.
    .map((text) => (/^\/*$/.test(text) ? 'x' : text));
  const isText = !/(?:Id|Name)$/.test(name);
  return fc.oneof(
    { arbitrary: isText ? odd : fc.constant(undefined), weight: 7 },
    { arbitrary: odd, weight: 2 },
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value);
}
