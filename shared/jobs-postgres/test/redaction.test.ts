import { defaultRedaction, redactedText, searchableRedaction } from '@longshore/jobs/storage';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import { searchedArgs } from '../src/jobs/job-conditions.sql.js';
import { createStoreDatabase } from './support/store-database.js';

/** Keys and labels, some of which are redacted. */
const word = fc.constantFrom(
  ...'password userPIN AWSAccessKey basicAuth author PIN pin_code key name Value values Header x DSN_2 É ſecret'.split(
    ' ',
  ),
  '',
  '__proto__',
  'a"pin',
  'a\npin',
  'a\\pin',
);
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.array(word, { maxLength: 2 }),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(word, tie('document'), { maxKeys: 4 }),
  ),
}));

describe('A redacted document in SQL', () => {
  let database: TestDatabase;
  before(async () => (database = await createStoreDatabase()));
  after(() => database.drop());

  /** Returns the texts of documents as searches see them. */
  const inSql = async (documents: readonly string[], pattern: string): Promise<string[]> => {
    const values: unknown[] = [`[${documents.join(',')}]`];
    const searched = searchedArgs('item', pattern, (value) => `$${values.push(value)}`);
    const rows = await database.query<{ text: string }>(
      `select (${searched})::text as text
       from jsonb_array_elements($1::jsonb) with ordinality as given (item, place) order by place`,
      values,
    );
    return rows.map(({ text }) => text);
  };

  for (const pattern of [
    defaultRedaction.source,
    'pin',
    '^pin$',
    '(^|[-_ ])pin([-_ ]|$)',
    'a.p',
    '[^x]in',
    '[ -~]in',
    '\\s?pin',
    '"pin',
    'n(?!ame)',
    'user[-_]pin$',
  ])
    it(`is the same as in TypeScript with the pattern ${pattern}`, async () => {
      expect(searchableRedaction(new RegExp(pattern))).to.equal(pattern);
      await fc.assert(
        fc.asyncProperty(
          fc.array(document, { minLength: 1, maxLength: 200, size: 'max' }),
          async (values) => {
            const texts = values.map((value) => JSON.stringify(value));
            const parsed = (list: readonly string[]): unknown[] =>
              list.map((text) => JSON.parse(text) as unknown);
            expect(parsed(await inSql(texts, pattern))).to.deep.equal(
              parsed(texts.map((text) => redactedText(text, pattern))),
            );
          },
        ),
        { numRuns: 3 },
      );
    });

  it('keeps the digits of numbers', async () => {
    expect(await inSql(['{"a":9007199254740993.10}'], 'x')).to.deep.equal(['{"a": 9007199254740993.10}']);
  });

  it('ends at the same depth', async () => {
    const nested = (depth: number): string => `${'[{"a": '.repeat(depth)}1${'}]'.repeat(depth)}`;
    const documents = [31, 32, 33, 80].map((depth) => `{"pin": 1, "deep": ${nested(depth)}}`);
    expect((await inSql(documents, 'pin')).map((text) => JSON.parse(text) as unknown)).to.deep.equal(
      documents.map((text) => JSON.parse(redactedText(text, 'pin')) as unknown),
    );
  });
});
