import { defineResource, itemsOf, pageOf } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

const lower = '01a20472-5ed1-7102-9962-bf1f1a0fa733';
const upper = lower.toUpperCase();
const other = '01a20472-5ed1-7102-9962-bf1f1a0fa734';

interface Parcel {
  readonly id: string;
  readonly orderId: string;
  readonly alternatives: string[];
  readonly sentAt: string;
  readonly note: string;
}

describe('Identifiers', () => {
  let api: TestApi;
  let parcels: Parcel[];
  /** The ids with which the storage was called. */
  let asked: string[];
  const uuid = Type.String({ format: 'uuid' });
  const parcel = defineResource({
    name: 'parcels',
    item: Type.Object({
      id: uuid,
      orderId: uuid,
      alternatives: Type.Array(uuid),
      sentAt: Type.String({ format: 'date-time' }),
      note: Type.String(),
    }),
    serverSet: ['sentAt'],
    filters: { orderId: 'exact' },
    operations: { open: { summary: 'Open a parcel', body: Type.Object({ by: Type.Optional(uuid) }) } },
    storage: {
      list: async (query) => pageOf(parcels, query),
      get: async (id) => {
        asked.push(id);
        return parcels.find((each) => each.id === id);
      },
      create: async (body) => {
        const made = { ...body, sentAt: '2026-01-31T09:00:00.000Z' };
        parcels.push(made);
        return made;
      },
      patch: async (id, change) => {
        asked.push(id);
        const current = parcels.find((each) => each.id === id);
        return current && { ...current, ...change.apply(current) };
      },
      replaceMany: async (changes) =>
        changes.flatMap(({ id }) => parcels.find((each) => each.id === id) ?? []),
      delete: async (id) => parcels.some((each) => each.id === id),
      deleteMany: async (filters) => itemsOf(parcels, filters).length,
      operations: {
        open: async (id, { by }) => {
          asked.push(id, by ?? '');
          return parcels.find((each) => each.id === id);
        },
      },
    },
  });
  const rooms = defineResource({
    name: 'rooms',
    key: 'name',
    item: Type.Object({ name: Type.String(), floor: Type.Optional(Type.Integer()) }),
    operations: { clean: { summary: 'Clean a room' } },
    children: [
      {
        resource: defineResource({
          name: 'keys',
          item: Type.Object({ id: Type.String() }),
          storage: { list: async (query) => pageOf([{ id: 'k' }], query) },
        }),
      },
    ],
    storage: {
      list: async (query) => pageOf([{ name: 'search' }, { name: 'attic' }], query),
      get: async (name) => ({ name }),
      operations: { clean: async (name) => ({ name }) },
    },
  });

  before(async () => (api = await serve({ resources: [parcel, rooms] })));
  after(() => api.close());
  beforeEach(() => {
    asked = [];
    parcels = [
      { id: lower, orderId: lower, alternatives: [], sentAt: '2026-01-31T09:00:00.000Z', note: 'x' },
    ];
  });
  const call = (method: string, path: string, json?: unknown) =>
    api.call(`/api/v1${path}`, { method, ...(json !== undefined && { json }) });

  for (const id of [lower, upper])
    describe(`of an item, written as ${id}`, () => {
      for (const inBody of [lower, upper])
        it(`is the same as ${inBody} in the body`, async () => {
          expect((await call('PATCH', `/parcels/${id}`, { id: inBody, note: 'y' })).status).to.equal(200);
          expect(asked).to.deep.equal([lower]);
        });

      it('finds it', async () => {
        for (const [method, path] of [
          ['GET', `/parcels/${id}`],
          ['PUT', `/parcels/${id}/open`],
          ['DELETE', `/parcels/${id}`],
        ] as const)
          expect((await call(method, path)).status, method).to.be.oneOf([200, 204]);
        expect(new Set(asked.filter((each) => each !== ''))).to.deep.equal(new Set([lower]));
        expect((await call('GET', `/parcels?orderId=${id}`)).body).to.have.lengthOf(1);
      });

      it('reaches the storage in lower case from a body, wherever it stands there', async () => {
        const { body } = await call('POST', '/parcels', {
          id,
          orderId: id,
          alternatives: [other, id],
          note: 'x',
        });
        expect(body).to.include({ id: lower, orderId: lower });
        expect(body).to.have.deep.property('alternatives', [other, lower]);
        await call('PUT', `/parcels/${lower}/open`, { by: id });
        expect(asked).to.include(lower);
      });
    });

  it('that differ are refused', async () => {
    expect((await call('PATCH', `/parcels/${upper}`, { id: other })).codes).to.deep.equal([42202]);
  });

  it('that are the same are a duplicate, whatever their case', async () => {
    const item = { orderId: lower, alternatives: [], note: 'x' };
    const { codes, messages } = await call('PUT', '/parcels', [
      { ...item, id: lower },
      { ...item, id: upper },
    ]);
    expect([codes, messages]).to.deep.equal([[42202], `[1].id "${lower}" appears more than once`]);
  });

  it('leave read-only times alone: another notation of the same time is no change', async () => {
    for (const sentAt of [
      '2026-01-31T09:00:00Z',
      '2026-01-31T10:00:00.000000+01:00',
      '2026-01-31t09:00:00.0z',
    ])
      expect((await call('PATCH', `/parcels/${lower}`, { sentAt, note: 'y' })).status, sentAt).to.equal(200);
    expect(
      (await call('PATCH', `/parcels/${lower}`, { sentAt: '2026-01-31T09:00:00.000001Z' })).codes,
    ).to.deep.equal([42202]);
  });

  describe('that are free text', () => {
    it('may be any word, also one that means something elsewhere', async () => {
      for (const name of ['search', 'Search', 'openapi.json', 'docs', 'clean', 'keys', 'rooms']) {
        expect((await call('GET', `/rooms/${name}`)).body, name).to.deep.equal({ name });
        expect((await call('PUT', `/rooms/${name}/clean`)).body, name).to.deep.equal({ name });
        expect((await call('GET', `/rooms/${name}/keys`)).body, name).to.deep.equal([{ id: 'k' }]);
        expect((await call('GET', `/rooms/${name}/attic`)).codes, name).to.deep.equal([40401]);
      }
    });

    it('leave `q` for searching', async () => {
      expect((await call('GET', '/rooms?q=attic')).body).to.deep.equal([{ name: 'attic' }]);
      expect((await call('GET', '/parcels/search/x')).status).to.equal(200);
    });
  });
});
