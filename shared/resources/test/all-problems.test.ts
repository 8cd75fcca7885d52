import { defineResource, tableStorage, type Resource } from '@longshore/resources';
import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

const missing = '01a20472-5ed1-7102-9962-bf1f1a0fa733';

describe('The problems of a request to a table', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let api: TestApi;
  let port: string;
  let ship: string;
  const id = Type.String({ format: 'uuid' });
  const named = (name: string, children: readonly Resource[] = []): Resource =>
    defineResource(
      {
        name,
        item: Type.Object({ id, name: Type.String() }),
        serverSet: ['id'],
        children: children.map((resource) => ({ resource, by: 'shipId' })),
      },
      tableStorage({ name: `harbour.${name.slice(0, -1)}` }),
    );
  const calls = defineResource(
    {
      name: 'calls',
      item: Type.Object({
        id,
        shipId: id,
        portId: id,
        pilotId: Type.Optional(Type.Union([id, Type.Null()])),
        draught: Type.Number({ maximum: 30 }),
        berth: Type.Optional(Type.Integer()),
      }),
      serverSet: ['id'],
    },
    tableStorage({ name: 'harbour.call' }),
  );

  before(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.url });
    await pool.query(`
      create extension if not exists pg_trgm;
      create schema harbour;
      create table harbour.port (id uuid primary key default gen_random_uuid(), name text not null);
      create table harbour.ship (id uuid primary key default gen_random_uuid(), name text not null);
      create table harbour.pilot (id uuid primary key default gen_random_uuid(), name text not null);
      create table harbour.call (
        id uuid primary key default gen_random_uuid(),
        ship_id uuid not null references harbour.ship,
        port_id uuid not null references harbour.port,
        pilot_id uuid references harbour.pilot,
        draught float8 not null check (draught > 0),
        berth int,
        constraint own_rule check (berth is null or draught < 20)
      );`);
    api = await serve({
      resources: [named('ports'), named('ships', [calls]), named('pilots'), calls],
      platform: { database: pool },
    });
    const made = async (path: string): Promise<string> =>
      ((await api.call(`/api/v1/${path}`, { method: 'POST', json: { name: 'x' } })).body as { id: string })
        .id;
    [port, ship] = [await made('ports'), await made('ships')];
  });
  after(async () => {
    await api.close();
    await pool.end();
    await database.drop();
  });
  const post = (json: unknown, path = '/calls') => api.call(`/api/v1${path}`, { method: 'POST', json });

  it('are all in one 422: the schema and every foreign key', async () => {
    const { status, messages } = await post({
      shipId: missing,
      portId: missing,
      pilotId: missing,
      draught: 31,
      x: 1,
    });
    expect(status).to.equal(422);
    expect(messages.split('\n').toSorted()).to.deep.equal([
      'draught must be <= 30',
      'pilotId refers to no existing item',
      'portId refers to no existing item',
      'shipId refers to no existing item',
      'x is not a known field',
    ]);
  });

  it('are all named when only foreign keys are wrong', async () => {
    const { messages } = await post({ shipId: missing, portId: missing, draught: 1 });
    expect(messages.split('\n').toSorted()).to.deep.equal([
      'portId refers to no existing item',
      'shipId refers to no existing item',
    ]);
  });

  it('are all named in an array, each with its place', async () => {
    const good = { shipId: ship, portId: port, draught: 1 };
    const { messages } = await post([
      good,
      { ...good, portId: missing },
      { ...good, pilotId: missing, draught: 'x' },
    ]);
    expect(messages.split('\n').toSorted()).to.deep.equal([
      '[1].portId refers to no existing item',
      '[2].draught must be number',
      '[2].pilotId refers to no existing item',
    ]);
    expect((await api.call('/api/v1/calls')).body).to.deep.equal([]);
  });

  it('are all named in a change, and only for what it changes', async () => {
    const { body } = await post({ shipId: ship, portId: port, draught: 1 });
    const path = `/api/v1/calls/${(body as { id: string }).id}`;
    const { messages } = await api.call(path, {
      method: 'PATCH',
      json: { portId: missing, shipId: missing },
    });
    expect(messages.split('\n')).to.have.lengthOf(2);
    for (const [method, json] of [
      ['PATCH', { portId: missing, draught: 31 }],
      ['PUT', { portId: missing, shipId: ship, draught: 31 }],
    ] as const) {
      const both = await api.call(path, { method, json });
      expect(both.messages.split('\n').toSorted(), method).to.deep.equal([
        'draught must be <= 30',
        'portId refers to no existing item',
      ]);
    }
    expect((await api.call(path, { method: 'PATCH', json: { draught: 2 } })).status).to.equal(200);
    await api.call(path, { method: 'DELETE' });
  });

  it('never name a constraint or a code of the database', async () => {
    for (const [json, message] of [
      [{ shipId: ship, portId: port, draught: -1 }, 'draught has a value that is not allowed'],
      [
        { shipId: ship, portId: port, draught: 25, berth: 1 },
        'The item has values that are not allowed together',
      ],
      [
        { shipId: ship, portId: port, draught: 1, berth: 3_000_000_000 },
        'A number is too large or too small for its field',
      ],
    ] as const) {
      const { codes, messages } = await post(json);
      expect([codes, messages]).to.deep.equal([[42202], message]);
    }
  });

  for (const parent of ['0', `${missing}0`])
    it(`are a 404 below a parent that cannot exist (${parent}), whatever the body and the method`, async () => {
      for (const [method, json] of [
        ['POST', {}],
        ['POST', { shipId: ship, portId: port, draught: 1 }],
        ['PUT', [{}]],
        ['DELETE', undefined],
        ['GET', undefined],
      ] as const) {
        const { status, codes, messages } = await api.call(`/api/v1/ships/${parent}/calls`, { method, json });
        expect([status, codes], method).to.deep.equal([404, [40402]]);
        expect(messages).to.equal(`There is no ship "${parent}" here`);
      }
    });
});
