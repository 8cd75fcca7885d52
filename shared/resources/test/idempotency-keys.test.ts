import { defineResource, type Principal } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { type Answer, serve, type TestApi } from './support/api.js';

describe('An Idempotency-Key', () => {
  let api: TestApi;
  let performed: number;
  let queues: readonly string[] | undefined;
  const letters = defineResource({
    name: 'letters',
    item: Type.Object({ id: Type.String(), queue: Type.String(), content: Type.Optional(Type.Unknown()) }),
    operations: {
      send: { summary: 'Send a letter', body: Type.Object({ content: Type.Optional(Type.Unknown()) }) },
    },
    storage: {
      get: async (id) => ({ id, queue: 'mail' }),
      create: async (body) => counted(body),
      createMany: async (bodies) => bodies.map(counted),
      replace: async (id, change) => counted(change.apply({ id, queue: 'mail' })),
      patch: async (id, change) => counted(change.apply({ id, queue: 'mail' })),
      replaceMany: async (changes) =>
        changes.map(({ id, change }) => counted(change.apply({ id, queue: 'mail' }))),
      delete: async () => (performed += 1) > 0,
      deleteMany: async () => (performed += 1),
      operations: { send: async (id) => counted({ id, queue: 'mail' }) },
    },
  });
  function counted<Item>(item: Item): Item {
    performed += 1;
    return item;
  }
  const authenticate = (): Principal => ({
    name: 'me',
    scopes: ['write'],
    ...(queues && { rowScope: queues }),
  });

  beforeEach(async () => {
    performed = 0;
    queues = undefined;
    api = await serve({ resources: [letters], authenticate, rowScopes: { letters: { field: 'queue' } } });
  });
  afterEach(() => api.close());
  const call = (method: string, path: string, json?: unknown, key = 'k'): Promise<Answer> =>
    api.call(`/api/v1${path}`, { method, json, headers: { 'idempotency-key': key } });

  const letter = { id: 'a', queue: 'mail' };
  const requests = [
    ['POST', '/letters', letter],
    ['POST', '/letters', [letter]],
    ['PUT', '/letters/a', letter],
    ['PUT', '/letters', [letter]],
    ['PATCH', '/letters/a', { content: 1 }],
    ['PUT', '/letters/a/send', {}],
    ['DELETE', '/letters/a', undefined],
    ['DELETE', '/letters', undefined],
  ] as const;
  for (const [method, path, json] of requests)
    describe(`of ${method} ${path}${Array.isArray(json) ? ' with an array' : ''}`, () => {
      it('makes a repetition return the first answer and change nothing', async () => {
        const first = await call(method, path, json);
        const second = await call(method, path, json);
        expect(first.status).to.be.oneOf([200, 201, 204]);
        expect([second.status, second.text]).to.deep.equal([first.status, first.text]);
        expect(second.headers.get('idempotent-replayed')).to.equal('true');
        expect(performed).to.equal(1);
      });

      it('belongs to one request only', async () => {
        await call(method, path, json);
        const different =
          json === undefined
            ? await call('DELETE', `${path}?queue=x`)
            : await call(method, path, changed(json));
        expect(different.codes[0]).to.be.oneOf([42202, 40002]);
        expect(performed).to.equal(1);
      });
    });

  function changed(json: object): unknown {
    return Array.isArray(json) ? json.map((each: object) => changed(each)) : { ...json, content: 'other' };
  }

  it('is for the same request if its members have another order', async () => {
    await call('POST', '/letters', { id: 'a', queue: 'mail', content: { b: [{ d: 1, c: 2 }], a: 1 } });
    const again = await call('POST', '/letters', {
      content: { a: 1, b: [{ c: 2, d: 1 }] },
      queue: 'mail',
      id: 'a',
    });
    expect([again.status, performed]).to.deep.equal([201, 1]);
  });

  it('is for another request if the elements of a list have another order', async () => {
    await call('POST', '/letters', { ...letter, content: [1, 2] });
    expect((await call('POST', '/letters', { ...letter, content: [2, 1] })).codes).to.deep.equal([42202]);
  });

  for (const [method, path, json] of requests.slice(0, 6))
    it(`shows nothing that the caller may no longer see: ${method} ${path}`, async () => {
      queues = ['mail', 'news'];
      await call(method, path, json);
      queues = ['news'];
      const { status, text } = await call(method, path, json);
      expect(status).to.equal(404);
      expect(text).not.to.contain('mail');
    });
});
