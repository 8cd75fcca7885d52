import fc from 'fast-check';
import { rawNumber } from './json-text.js';

/** Texts that can cause trouble with encodings, collations, templates and paths. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\0',
  'a\0b',
  '\uD800',
  'x\uDC00y',
  '\uFEFF',
  '\u202Eright to left',
  '\u200B',
  'e\u0301',
  'ﬀ ẞ İ ı',
  '👩‍👩‍👧‍👦'.repeat(3),
  '\u{10FFFF}',
  '%',
  '%_\\',
  '100%25',
  '..',
  '../../etc/passwd',
  '/',
  "'; drop table job; --",
  '"',
  '\\',
  '\\u0000',
  '<script>alert(1)</script>',
  '<%= 1 %>',
  '${1}',
  '{{1}}',
  '__proto__',
  'constructor',
  'toString',
  'search',
  'SEARCH',
  `${'x'.repeat(99)}😀`,
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e309',
  '9007199254740993',
  '0x10',
  '०१२',
  '2026-02-30',
  '2026-01-01T00:00:00',
];

/** Times at the limits of calendars, JavaScript and Postgres. */
export const oddTimes: readonly string[] = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '2000-02-29T12:00:00.123456789Z',
  '2016-12-31T23:59:60Z',
  '2026-03-29T02:30:00+01:00',
  '2038-01-19T03:14:08Z',
  '2026-01-31T09:30:00-23:59',
  '2026-01-31T09:30:00+14:00',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59.999999-12:00',
];

/** Numbers at the limits of 16, 32, 53 and 64 bits and of doubles, and unusual notations. */
export const oddNumbers: readonly unknown[] = [
  0,
  -1,
  1,
  0.1,
  -0.5,
  32_767,
  32_768,
  -32_769,
  2_147_483_647,
  2_147_483_648,
  -2_147_483_649,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53,
  1e21,
  1e300,
  -1e300,
  5e-324,
  rawNumber('-0'),
  rawNumber('1E2'),
  rawNumber('1.0'),
  rawNumber('12345678901234567890'),
  rawNumber('-9223372036854775809'),
  rawNumber('1e999'),
  rawNumber(`1${'0'.repeat(400)}`),
];

export const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

const deep = fc.integer({ min: 5, max: 120 }).map((depth) => {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
});

/** Generates arbitrary JSON values. Some of them are deeply nested. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, {}, [], ...oddNumbers),
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    deep,
  ),
})).value;
