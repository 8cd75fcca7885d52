import { expect } from 'chai';
import Type from 'typebox';
import { defineResource, type Principal } from '@longshore/resources';
import { serve } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

/** A caller who may see only the books of one author. */
const scoped: Principal = { name: 'austens-publisher', scopes: ['admin'], rowScope: ['austen'] };

describe('A caller with a row scope', () => {
  let api: Library;
  let own = '';
  let foreign = '';
  before(async () => {
    api = await serveLibrary({
      authenticate: ({ headers }) =>
        headers['authorization'] === undefined ? { name: 'root', scopes: ['admin'] } : scoped,
      rowScopes: { books: { field: 'authorId', defaultOf: () => 'eliot' } },
    });
    own = await add('austen');
    foreign = await add('eliot');
  });
  after(() => api.close());

  const add = async (authorId: string): Promise<string> => {
    const made = await api.call('/api/v1/books', { method: 'POST', json: newBook({ authorId }) });
    return (made.body as { id: string }).id;
  };
  const call = (method: string, path: string, json?: unknown) =>
    api.call(`/api/v1${path}`, {
      method,
      headers: { authorization: 'scoped' },
      ...(json !== undefined && { json }),
    });
  const ids = async (path: string): Promise<unknown> =>
    ((await call('GET', path)).body as { id: string }[]).map(({ id }) => id);

  it('finds only items in its scope, with every kind of query', async () => {
    expect(await ids('/books')).to.deep.equal([own]);
    expect(await ids('/books?authorId=austen&authorId=eliot')).to.deep.equal([own]);
    expect(await ids('/books?authorId=eliot')).to.deep.equal([]);
    expect(await ids('/books/search/Emma')).to.deep.equal([own]);
  });

  it('counts only items in its scope', async () => {
    expect((await call('GET', '/books?limit=0')).headers.get('x-total-count')).to.equal('1');
  });

  for (const [method, path, json] of [
    ['GET', '', undefined],
    ['PUT', '', newBook({ authorId: 'austen' })],
    ['PATCH', '', { price: 1 }],
    ['DELETE', '', undefined],
    ['PUT', '/lend', { days: 1 }],
    ['GET', '/chapters', undefined],
  ] as const) {
    it(`is told by ${method} that another item${path} does not exist`, async () => {
      expect((await call(method, `/books/${foreign}${path}`, json)).codes).to.deep.equal([40402]);
      expect((await api.call(`/api/v1/books/${foreign}`)).body).to.include({
        status: 'available',
        price: 9.5,
      });
    });
  }

  it('adds items only to its scope, even if the body leaves the value out', async () => {
    const answers = [
      await call('POST', '/books', newBook({ authorId: 'austen' })),
      await call('POST', '/books', newBook({ authorId: 'eliot' })),
      await call('POST', '/books', [newBook({ authorId: 'austen' }), newBook({ authorId: 'eliot' })]),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 403, 403]);
  });

  it('cannot move an item out of its scope', async () => {
    const { codes } = await call('PATCH', `/books/${own}`, { authorId: 'eliot' });
    const bulk = await call('PUT', '/books', [{ id: own, ...newBook({ authorId: 'eliot' }) }]);
    expect([codes, bulk.codes]).to.deep.equal([[40301], [40301]]);
  });

  it('cannot take over an item with a bulk change', async () => {
    const { status } = await call('PUT', '/books', [{ id: foreign, ...newBook({ authorId: 'austen' }) }]);
    expect(status).to.equal(404);
  });

  it('deletes only items in its scope', async () => {
    const removed = await add('austen');
    await call('DELETE', '/books?title=Emma');
    const left = await Promise.all([removed, foreign].map((id) => api.call(`/api/v1/books/${id}`)));
    expect(left.map(({ status }) => status)).to.deep.equal([404, 200]);
  });

  it('does not see an existing item outside its scope that `create` returns', async () => {
    const notes = defineResource({
      name: 'notes',
      item: Type.Object({ id: Type.String(), owner: Type.String() }),
      storage: { create: async ({ id }) => ({ id, owner: 'eliot' }) },
    });
    const other = await serve({
      resources: [notes],
      authenticate: () => scoped,
      rowScopes: { notes: { field: 'owner' } },
    });
    const json = { id: 'taken', owner: 'austen' };
    const { codes, text } = await other.call('/api/v1/notes', { method: 'POST', json });
    await other.close();
    expect(codes).to.deep.equal([40901]);
    expect(text).not.to.contain('eliot');
  });

  describe('whose item leaves its scope while a call is in progress', () => {
    /** A resource with items that leave the caller's scope after they have been found. */
    const leaving = defineResource({
      name: 'parcels',
      item: Type.Object({ id: Type.String(), owner: Type.String() }),
      operations: { send: { summary: 'Send it' }, keep: { summary: 'Keep it' } },
      storage: {
        get: async (id) => ({ id, owner: 'austen' }),
        wait: async (id) => ({ id, owner: 'eliot' }),
        delete: async (id, check) => {
          check({ id, owner: 'eliot' });
          return true;
        },
        operations: {
          send: async (id) => ({ id, owner: 'eliot' }),
          keep: async (id, _body, _context, check) => {
            check?.({ id, owner: 'eliot' });
            return { id, owner: 'austen' };
          },
        },
      },
    });

    for (const [method, path] of [
      ['GET', '/parcels/7?wait=1'],
      ['DELETE', '/parcels/7'],
      ['PUT', '/parcels/7/send'],
      ['PUT', '/parcels/7/keep'],
    ] as const) {
      it(`is told by ${method} ${path} that there is none`, async () => {
        const other = await serve({
          resources: [leaving],
          authenticate: () => scoped,
          rowScopes: { parcels: { field: 'owner' } },
        });
        const { codes, text } = await other.call(`/api/v1${path}`, { method });
        await other.close();
        expect(codes).to.deep.equal([40402]);
        expect(text).not.to.contain('eliot');
      });
    }
  });

  it('may not use a resource without a row scope', async () => {
    const { codes, messages } = await call('GET', '/authors');
    expect(codes).to.deep.equal([40301]);
    expect(messages).to.equal('These credentials are limited to austen and do not cover authors');
  });
});
