import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { defineResource, pageOf, tableStorage } from '@longshore/resources';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

/** In the order of an alphabet, which is neither that of the code points (`Äpfel` last) nor that of the ids. */
const ordered = ['apfel', 'Äpfel', 'birne', 'Birnen', 'émile', 'Emu', 'Zebra', 'Ωmega'];

const item = Type.Object({ id: Type.Integer(), name: Type.String({ maxLength: 100 }) });
const sort = ['name'] as const;
const stored = defineResource({ name: 'towns', item, sort }, tableStorage({ name: 'atlas.town' }));
const rows = ordered
  .toSorted()
  .toReversed()
  .map((name, id) => ({ id, name }));
const kept = defineResource({
  name: 'villages',
  item,
  sort,
  storage: { seeks: true, list: async (query) => pageOf(rows, query) },
});

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create schema atlas;
    create table atlas.town (id int primary key, name text not null)`);
  await client.query(
    'insert into atlas.town select place - 1, name from unnest($1::text[]) with ordinality as t (name, place)',
    [rows.map(({ name }) => name)],
  );
  await client.end();
}

describe('Texts in a collection', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;

  before(async () => {
    database = await createTestDatabase(migrate);
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    api = await serve({
      resources: [stored, kept],
      platform: { database: pool },
    });
  });
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });

  for (const [collection, where] of [
    ['towns', 'a table'],
    ['villages', 'a list in memory'],
  ] as const) {
    it(`of ${where} are sorted by an alphabet, not by their code points`, async () => {
      const namesBy = async (order: string): Promise<string[]> => {
        const { body } = await api.call(`/api/v1/${collection}?sort=${order}`);
        return (body as { name: string }[]).map(({ name }) => name);
      };
      expect(await namesBy('name')).to.deep.equal(ordered);
      expect(await namesBy('-name')).to.deep.equal(ordered.toReversed());
    });

    it(`of ${where} are each on one of the pages that are linked in that order`, async () => {
      const names: string[] = [];
      let path: string | undefined = `/api/v1/${collection}?sort=name&limit=3`;
      while (path !== undefined) {
        const { body, headers } = await api.call(path);
        names.push(...(body as { name: string }[]).map(({ name }) => name));
        path = /<https:\/\/api\.example\.com([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      }
      expect(names).to.deep.equal(ordered);
    });
  }
});
