import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineResource, pageOf, tableStorage } from '@longshore/resources';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

const cities = [
  'Berlin',
  'Merlin',
  'İSTANBUL',
  'ΑΘΗΝΑΣ',
  'Große Straße 7',
  'oﬃce',
  String.raw`C:\temp\r7.pdf`,
  '50% of_it',
  'newsletter',
  'order48151',
  'Rang the bell twice at Kiel',
];

const item = Type.Object({ id: Type.Integer(), name: Type.String() });
const filters = { name: { field: 'name', match: 'partial' } } as const;
const stored = defineResource({ name: 'towns', item, filters }, tableStorage({ name: 'atlas.town' }));
const kept = defineResource({
  name: 'villages',
  item,
  filters,
  storage: {
    list: async (query) =>
      pageOf(
        cities.map((name, id) => ({ id, name })),
        query,
      ),
  },
});

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create extension pg_trgm;
    create schema atlas;
    create table atlas.town (id int primary key, name text not null)`);
  await client.query(
    'insert into atlas.town select place - 1, name from unnest($1::text[]) with ordinality as t (name, place)',
    [cities],
  );
  await client.end();
}

describe('A search, in tables and in memory', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;

  before(async () => {
    database = await createTestDatabase(migrate);
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    const { searchTimeoutMs } = patientStorage;
    api = await serve({
      resources: [stored, kept],
      platform: { database: pool, searchTimeoutMs },
    });
  });
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });

  const namesBy = async (collection: string, parameters: Record<string, string>): Promise<string[]> => {
    const { body } = await api.call(`/api/v1/${collection}?${new URLSearchParams(parameters).toString()}`);
    return (body as { name: string }[]).map(({ name }) => name);
  };

  for (const [q, ...expected] of [
    ['belrin', 'Berlin'],
    ['berlin', 'Berlin', 'Merlin'],
    ['MERLIN', 'Merlin', 'Berlin'],
    ['istanbul', 'İSTANBUL'],
    ['İSTANBUL', 'İSTANBUL'],
    ['αθηνας', 'ΑΘΗΝΑΣ'],
    ['ΑΘΗΝΑΣ', 'ΑΘΗΝΑΣ'],
    ['strasse', 'Große Straße 7'],
    ['STRAẞE große', 'Große Straße 7'],
    ['OFFICE', 'oﬃce'],
    [String.raw`\TEMP\r7`, String.raw`C:\temp\r7.pdf`],
    ['%', '50% of_it'],
    ['of_it', '50% of_it'],
    ['mewsleter', 'newsletter'],
    ['mewslefer'],
    ['order48152'],
    ['twise rang', 'Rang the bell twice at Kiel'],
    ['twice Berlin'],
  ] as const) {
    it(`for "${q}" finds ${expected.join(' and ') || 'nothing'}`, async () => {
      for (const collection of ['towns', 'villages'])
        expect(await namesBy(collection, { q }), collection).to.deep.equal(expected);
    });
  }

  for (const [name, expected] of [
    ['STANBUL', 'İSTANBUL'],
    ['θηνας', 'ΑΘΗΝΑΣ'],
    ['GROSSE STR', 'Große Straße 7'],
    [String.raw`temp\r`, String.raw`C:\temp\r7.pdf`],
  ] as const) {
    it(`by part of a field finds "${expected}" by "${name}"`, async () => {
      for (const collection of ['towns', 'villages'])
        expect(await namesBy(collection, { name }), collection).to.deep.equal([expected]);
    });
  }
});
