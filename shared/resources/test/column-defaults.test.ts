import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { defineResource, tableStorage } from '@longshore/resources';
import { serve, type TestApi } from './support/api.js';

const notes = defineResource(
  {
    name: 'notes',
    item: Type.Object({
      id: Type.Integer(),
      text: Type.Optional(Type.String()),
      tone: Type.Optional(Type.String()),
    }),
    serverSet: ['id'],
  },
  tableStorage({ name: 'public.note' }),
);

describe('Items that are created together and lack different fields', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;

  before(async () => {
    database = await createTestDatabase();
    await database.query(`create table note (
      id integer primary key generated always as identity, text text not null default 'empty', tone text not null default 'plain')`);
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    api = await serve({
      resources: [notes],
      platform: { database: pool },
    });
  });
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });

  it('get the defaults of their columns, and are returned in the order of the request', async () => {
    const json = [{ text: 'one' }, {}, { tone: 'loud' }, { text: 'two' }, {}, { text: 'three', tone: 'low' }];
    const { status, body } = await api.call('/api/v1/notes', { method: 'POST', json });
    expect(status).to.equal(201);
    expect(
      (body as readonly { text: string; tone: string }[]).map(({ text, tone }) => [text, tone]),
    ).to.deep.equal([
      ['one', 'plain'],
      ['empty', 'plain'],
      ['empty', 'loud'],
      ['two', 'plain'],
      ['empty', 'plain'],
      ['three', 'low'],
    ]);
  });
});
