import { defaultRedaction, redactedText } from '@longshore/jobs/storage';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import { createStoreDatabase } from './support/store-database.js';

/** Keys and labels, some of which are redacted. */
const word = fc.constantFrom(
  ...'password userPIN AWSAccessKey basicAuth author PIN pin_code key name Value values Header x DSN_2 É ſecret'.split(
    ' ',
  ),
  '',
  '__proto__',
);
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(word, tie('document'), { maxKeys: 4 }),
  ),
}));

describe('A redacted document in SQL', () => {
  let database: TestDatabase;
  before(async () => (database = await createStoreDatabase()));
  after(() => database.drop());

  /** Returns the texts of documents as SQL redacts them. */
  const inSql = async (documents: readonly string[], pattern: string): Promise<string[]> => {
    const rows = await database.query<{ text: string }>(
      `select longshore.redacted(item, $2)::text as text
       from jsonb_array_elements($1::jsonb) with ordinality as given (item, place) order by place`,
      [`[${documents.join(',')}]`, pattern],
    );
    return rows.map(({ text }) => text);
  };

  it('is the same as in TypeScript', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(document, { minLength: 1, maxLength: 200, size: 'max' }), async (values) => {
        const texts = values.map((value) => JSON.stringify(value));
        const parsed = (list: readonly string[]): unknown[] =>
          list.map((text) => JSON.parse(text) as unknown);
        expect(parsed(await inSql(texts, defaultRedaction.source))).to.deep.equal(
          parsed(texts.map((text) => redactedText(text, defaultRedaction))),
        );
      }),
      { numRuns: 5 },
    );
  });

  it('keeps the digits of numbers', async () => {
    expect(await inSql(['{"a":9007199254740993.10}'], 'x')).to.deep.equal(['{"a": 9007199254740993.10}']);
  });

  it('ends at the same depth', async () => {
    const nested = (depth: number): string => '[{"a":'.repeat(depth) + '1' + '}]'.repeat(depth);
    const documents = [31, 32, 33, 80].map(nested);
    expect(await inSql(documents, 'x')).to.deep.equal(documents.map((text) => redactedText(text, /x/)));
  });
});
