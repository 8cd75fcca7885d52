import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { pageOf } from '@longshore/resources';
import { expect } from 'chai';
import pg from 'pg';
import { similarityThreshold, TextSearch } from '../src/query/similarity.js';

const texts = [
  'Emma',
  'Silas Marner',
  'mail eu-west-1',
  'refund-order payments',
  'B LS 1001 Van 1 red available',
  'Köln store',
  '',
];
const searches = [
  'Emna',
  'marner silas',
  'rfund',
  'refnud',
  'payment',
  'eu west',
  'LS 101',
  'koln',
  'köln',
  'zzz',
  'a',
];

describe('The similarity of texts in memory', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase(async (url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('create extension pg_trgm');
      await client.end();
    });
  });
  after(() => database.drop());

  it('is that of pg_trgm', async () => {
    for (const search of searches) {
      for (const text of texts) {
        const [row] = await database.query(
          `select $2 ilike '%' || $1 || '%' as contains, word_similarity($1, $2)::float8 as similarity`,
          [search, text],
        );
        const { contains, similarity } = row as { contains: boolean; similarity: number };
        const matches = contains || similarity >= similarityThreshold;
        expect(new TextSearch(search).rank(text) !== undefined, `${search} in ${text}`).to.equal(matches);
      }
    }
  });

  it('orders a page, best match first', () => {
    const items = texts.map((name, index) => ({ id: String(index), name }));
    const page = pageOf(items, {
      filters: [],
      search: 'marner',
      searchFields: ['name'],
      sort: [{ field: 'id', direction: 'asc' }],
      byRelevance: true,
      limit: 20,
      offset: 0,
      seek: undefined,
      fields: undefined,
      count: 'default',
    });
    expect(page.items.map(({ name }) => name)).to.deep.equal(['Silas Marner']);
    expect(page.total).to.equal(1);
  });
});
