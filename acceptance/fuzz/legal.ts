import fc from 'fast-check';
import { type Kind, kindsOf, type OpenApiDocument, resolve, type Schema } from '@longshore/test-support';
import { domainValues } from './domain-values.js';
import { json, oddNumbers, oddTimes, oddTexts, text } from './odd-values.js';
import { placeholder } from './placeholder.js';

/** The OpenAPI document and the jobs that values are generated from. */
export interface Vocabulary {
  readonly document: OpenApiDocument;
  /** Generates jobs of the application, mostly with valid arguments. */
  readonly jobs: fc.Arbitrary<{ readonly name: string; readonly args: unknown }>;
}

type Values = fc.Arbitrary<unknown>;

/** Whether a pattern allows any text, except for excluded characters such as NUL or control characters. */
const isOpen = (pattern: string): boolean => pattern.startsWith('^[^') || pattern.includes('[\\s\\S]');

/**
 * Generates values that a schema permits, often extreme ones.
 *
 * @param name the field's name; some names have special values, such as `cron`
 */
export function legal(vocabulary: Vocabulary, given: Schema, name = ''): Values {
  const schema = resolve(vocabulary.document, given);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    return fc.oneof(...alternatives.map((alternative) => legal(vocabulary, alternative, name)));
  }
  return fc.oneof(...kindsOf(schema).map((kind) => legalOfKind(vocabulary, kind, schema, name)));
}

function legalOfKind(vocabulary: Vocabulary, kind: Kind, schema: Schema, name: string): Values {
  switch (kind) {
    case 'object':
      return legalObject(vocabulary, schema);
    case 'array':
      return legalArray(vocabulary, schema, name);
    case 'string':
      return legalText(schema, name);
    case 'integer':
      return legalInteger(schema);
    case 'number':
      return legalNumber(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'any':
      return json;
  }
}

function legalObject(vocabulary: Vocabulary, schema: Schema): Values {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const isMap = Object.keys(properties).length === 0 && additionalProperties !== false;
  if (isMap) {
    const member = typeof additionalProperties === 'object' ? legal(vocabulary, additionalProperties) : json;
    return fc.dictionary(text, member, { maxKeys: 3, noNullPrototype: true });
  }
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, legal(vocabulary, property, name)]),
  );
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const chosen = fc.oneof(
    { arbitrary: fc.subarray(optional, { maxLength: Math.min(optional.length, 3) }), weight: 5 },
    { arbitrary: fc.constant(optional), weight: 1 },
  );
  const values = chosen.chain((names) =>
    fc.record(Object.fromEntries([...required, ...names].map((name) => [name, members[name] ?? json]))),
  );
  return 'name' in properties && 'args' in properties ? withJob(vocabulary, values, required) : values;
}

/** Replaces most generated jobs with jobs of the application, because only those can run. */
function withJob({ jobs }: Vocabulary, values: Values, required: readonly string[]): Values {
  return fc.tuple(values, jobs, fc.nat(9)).map(([value, job, chance]) => {
    if (chance === 0) return value;
    const given = value as Readonly<Record<string, unknown>>;
    if (required.includes('name')) return { ...given, ...job };
    return 'args' in given ? { ...given, args: job.args } : given;
  });
}

function legalArray(vocabulary: Vocabulary, schema: Schema, name: string): Values {
  const { items = {}, minItems = 0, maxItems = 1_000, uniqueItems = false } = schema;
  const element = legal(vocabulary, items, name);
  const lengths = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, 4)) };
  return uniqueItems
    ? fc.uniqueArray(element, { ...lengths, selector: (value) => JSON.stringify(value) })
    : fc.array(element, lengths);
}

function legalText(schema: Schema, name: string): Values {
  const { format, pattern, minLength = 0, maxLength = 1_000_000 } = schema;
  const known = domainValues(name);
  const own = known === undefined ? [] : [{ arbitrary: known, weight: 4 }];
  if (format !== undefined) return fc.oneof(...own, { arbitrary: formatted(format), weight: 1 });
  if (pattern !== undefined && !isOpen(pattern)) {
    const matching = fc.stringMatching(new RegExp(pattern, 'u'));
    return fc.oneof(...own, {
      arbitrary: matching.filter(({ length }) => length >= minLength && length <= maxLength),
      weight: 1,
    });
  }
  const fits = (value: string): boolean =>
    value.isWellFormed() &&
    !value.includes('\0') &&
    Array.from(value).length >= minLength &&
    Array.from(value).length <= maxLength;
  const lengths = [minLength, Math.min(maxLength, 5_000)].flatMap((length) =>
    ['x', '€'].map((c) => c.repeat(length)),
  );
  return fc.oneof(
    ...own,
    { arbitrary: fc.constantFrom(...oddTexts.filter(fits), ...lengths), weight: 1 },
    { arbitrary: ofLength(minLength, maxLength).filter(fits), weight: 1 },
  );
}

function ofLength(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const lengths = { minLength, maxLength: Math.min(maxLength, minLength + 12) };
  return fc.oneof(fc.string(lengths), fc.string({ unit: 'binary', ...lengths }));
}

function formatted(format: string): fc.Arbitrary<string> {
  switch (format) {
    case 'uuid':
      return fc.oneof(
        fc.uuid({ version: 7 }),
        fc.constantFrom('00000000-0000-7000-8000-000000000000', 'FFFFFFFF-FFFF-7FFF-BFFF-FFFFFFFFFFFF'),
        fc.uuid(),
      );
    case 'date-time':
      return fc.oneof(
        fc.constantFrom(...oddTimes),
        fc
          .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
          .map((time) => time.toISOString()),
        fc.integer({ min: -2_000, max: 3_000 }).map((offset) => placeholder('now', offset)),
      );
    case 'date':
      return fc.constantFrom('0001-01-01', '1970-01-01', '2024-02-29', '9999-12-31');
    case 'email':
      return fc.emailAddress();
    case 'uri':
      return fc.webUrl();
    default:
      return text;
  }
}

function legalInteger({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
}: Schema): Values {
  const extremes = [minimum, minimum + 1, maximum - 1, maximum, 0, 1, 1_000].filter(
    (value) => value >= minimum && value <= maximum,
  );
  return fc.oneof(
    { arbitrary: fc.constantFrom(...extremes), weight: 2 },
    {
      arbitrary: fc.integer({
        min: Math.max(minimum, -20),
        max: Math.min(maximum, Math.max(minimum, 2_000)),
      }),
      weight: 1,
    },
  );
}

function legalNumber({ minimum = -Infinity, maximum = Infinity }: Schema): Values {
  const odd = oddNumbers.filter(
    (value) => typeof value !== 'number' || (value >= minimum && value <= maximum),
  );
  return fc.oneof(
    fc.constantFrom<unknown>(...odd, ...[minimum, maximum].filter(Number.isFinite)),
    fc.double({
      noNaN: true,
      noDefaultInfinity: true,
      min: Math.max(minimum, -1e6),
      max: Math.min(maximum, 1e6),
    }),
  );
}
