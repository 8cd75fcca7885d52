import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { defineResource, tableStorage } from '@longshore/resources';
import { serve, type TestApi } from './support/api.js';

const seats = defineResource(
  {
    name: 'seats',
    item: Type.Object({
      id: Type.String({ pattern: '^[A-Z]$' }),
      hallId: Type.String(),
      state: Type.Enum(['free', 'taken']),
      note: Type.String(),
    }),
    serverSet: ['state'],
    bulk: ['note'],
    operations: {
      take: { summary: 'Take a seat', states: { field: 'state', from: ['free'], to: ['taken'] } },
    },
  },
  tableStorage({ name: 'public.seat' }),
);
const halls = defineResource(
  {
    name: 'halls',
    item: Type.Object({ id: Type.String() }),
    children: [{ resource: seats, by: 'hallId' }],
  },
  tableStorage({ name: 'public.hall' }),
);

describe('A table whose keys are unique only below a parent', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;

  before(async () => {
    database = await createTestDatabase();
    await database.query(`
      create table hall (id text primary key);
      create table seat (
        hall_id text not null references hall,
        id text not null,
        state text not null default 'free',
        note text not null,
        primary key (hall_id, id)
      )`);
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    api = await serve({
      resources: [halls],
      platform: { database: pool },
    });
  });
  beforeEach(() =>
    database.query(`
      delete from seat; delete from hall; insert into hall values ('one'), ('two');
      insert into seat (hall_id, id, note) values ('one', 'A', 'old'), ('two', 'A', 'old')`),
  );
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });

  const changes: Record<string, readonly [method: string, path: string, json?: unknown]> = {
    PUT: ['PUT', '/seats/A', { id: 'A', hallId: 'one', note: 'new' }],
    PATCH: ['PATCH', '/seats/A', { note: 'new' }],
    'PUT of several': ['PUT', '/seats', [{ id: 'A', note: 'new' }]],
    'a special operation': ['PUT', '/seats/A/take'],
    DELETE: ['DELETE', '/seats/A'],
  };
  for (const [what, [method, path, json]] of Object.entries(changes))
    it(`is not changed below another parent by ${what}`, async () => {
      const { status, text } = await api.call(`/api/v1/halls/one${path}`, { method, json });
      expect(status, text).to.be.oneOf([200, 204]);
      expect(await database.query(`select state, note from seat where hall_id = 'two'`)).to.deep.equal([
        { state: 'free', note: 'old' },
      ]);
    });

  it('returns the changed item, not the one below another parent', async () => {
    const { body } = await api.call('/api/v1/halls/two/seats/A', { method: 'PATCH', json: { note: 'new' } });
    expect(body).to.include({ hallId: 'two', note: 'new' });
  });

  it('returns an item that has been moved to another parent', async () => {
    await database.query(`delete from seat where hall_id = 'two'`);
    const json = { hallId: 'two' };
    const { status, body } = await api.call('/api/v1/halls/one/seats/A', { method: 'PATCH', json });
    expect([status, (body as { hallId: string }).hallId]).to.deep.equal([200, 'two']);
  });
});
