import { expect } from 'chai';
import Type from 'typebox';
import { DefinitionError, defineResource, tableStorage } from '@longshore/resources';
import { serve } from './support/api.js';

const item = Type.Object({ id: Type.String(), name: Type.String(), size: Type.Integer() });
const storage = { list: async () => ({ items: [], total: 0 }) };
const define = (name: string): unknown => defineResource({ name, item, storage });

describe('A definition that breaks a rule throws at start-up', () => {
  for (const name of [
    'order',
    'Orders',
    'order_lines',
    'orders-',
    'order--lines',
    '-orders',
    '',
    '1orders',
    'orders/x',
  ]) {
    it(`resource name "${name}"`, () => {
      expect(() => define(name)).to.throw(DefinitionError, /plural noun|lower-case/);
    });
  }

  const cases: Readonly<Record<string, [() => unknown, RegExp]>> = {
    'an operation that is not a lower-case verb': [
      () =>
        defineResource({
          name: 'orders',
          item,
          operations: { doIt: { summary: '' } },
          storage: { operations: { doIt: async () => undefined } },
        }),
      /lower-case/,
    ],
    'an operation with an unknown member': [
      () => {
        const operations = { cancel: { summary: '', run: async () => undefined } };
        return defineResource({ name: 'orders', item, operations, storage });
      },
      /"cancel" has an unknown member "run"/,
    ],
    'an operation with code that is not declared': [
      () =>
        defineResource({ name: 'orders', item, storage: { operations: { cancel: async () => undefined } } }),
      /"cancel" has code in the storage but is not declared/,
    ],
    'a verb on a collection whose ids are free text, where it could be the name of an item': [
      () =>
        defineResource({
          name: 'orders',
          item,
          setOperations: {
            cancel: { summary: '', answer: () => defineResource({ name: 'moves', item, storage }) },
          },
          storage,
        }),
      /only a resource whose keys are UUIDs can have set operations/,
    ],
    'a verb that selects by what is not a field of its body': [
      () =>
        defineResource({
          name: 'parcels',
          item: Type.Object({ id: Type.String({ format: 'uuid' }), size: Type.Integer() }),
          filters: { size: { field: 'size', match: 'exact' } },
          setOperations: { weigh: { summary: '', selectedBy: 'size', body: Type.Object({}) } },
          storage,
        }),
      /selects by "size", which must be a filter and a required field of its body/,
    ],
    'an operation without code': [
      () => defineResource({ name: 'orders', item, operations: { cancel: { summary: '' } }, storage }),
      /"cancel" is declared but has no code in the storage/,
    ],
    'a filter with the name of a common parameter': [
      () =>
        defineResource({
          name: 'orders',
          item,
          filters: { limit: { field: 'size', match: 'exact' } },
          storage,
        }),
      /common parameter/,
    ],
    'a range over text': [
      () =>
        defineResource({
          name: 'orders',
          item,
          filters: { minName: { field: 'name', match: 'from' } },
          storage,
        }),
      /range/,
    ],
    'a reason that is not a sentence': [
      () => defineResource({ name: 'orders', item, notAllowed: { create: 'because' }, storage }),
      /notAllowed\.create must be a sentence/,
    ],
    'a field that is not camel case': [
      () =>
        defineResource({
          name: 'orders',
          item: Type.Object({ id: Type.String(), big_size: Type.String() }),
          storage,
        }),
      /camel case/,
    ],
    'an item without its key': [
      () => defineResource({ name: 'orders', item: Type.Object({ name: Type.String() }), storage: {} }),
      /key/,
    ],
    'a child without the field that holds the parent’s key': [
      () =>
        defineResource({
          name: 'orders',
          item,
          children: [{ resource: defineResource({ name: 'lines', item, storage }), by: 'orderId' }],
          storage,
        }),
      /"lines" has no field "orderId"/,
    ],
  };
  for (const [name, [act, message]] of Object.entries(cases)) {
    it(name, () => expect(act).to.throw(DefinitionError, message));
  }

  it('two resources of one name', async () => {
    const resources = [
      defineResource({ name: 'orders', item, storage }),
      defineResource({ name: 'orders', item, storage }),
    ];
    const error = await serve({ resources }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DefinitionError);
  });

  it('a table without a database', async () => {
    const resources = [defineResource({ name: 'orders', item }, tableStorage({ name: 'orders' }))];
    const error = await serve({ resources }).catch((reason: unknown) => reason);
    expect(error)
      .to.be.instanceOf(DefinitionError)
      .with.property('message')
      .that.contains('needs a database');
  });

  it('a table with an operation that enqueues, on a platform without jobs', async () => {
    const operations = { pay: { summary: 'Pay', enqueues: true } };
    const resources = [
      defineResource(
        { name: 'orders', item, operations },
        tableStorage({ name: 'orders', operations: { pay: async () => undefined } }),
      ),
    ];
    const unused = () => Promise.reject(new Error('unused'));
    const platform = { database: { query: unused, connect: unused } };
    const error = await serve({ resources, platform }).catch((reason: unknown) => reason);
    expect(error)
      .to.be.instanceOf(DefinitionError)
      .with.property(
        'message',
        'operation "pay" of resource "orders" enqueues jobs: give the platform `jobs`',
      );
  });
});

describe('Names', () => {
  for (const name of ['orders', 'line-items', 'batches', 'cancellations', 'queues', 'k8s-nodes']) {
    it(`"${name}" is allowed`, () => expect(() => define(name)).to.not.throw());
  }
});

describe('A definition', () => {
  const described = Type.Object({
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    state: Type.Enum(['open', 'closed']),
    note: Type.Union([Type.String(), Type.Null()]),
    parentId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    size: Type.Integer(),
    tags: Type.Array(Type.String()),
    data: Type.Object({}),
    at: Type.String({ format: 'date-time' }),
    paid: Type.Boolean(),
  });

  it('searches every field that holds text unless it names some', () => {
    const { search } = defineResource({ name: 'orders', item: described, storage });
    expect(search).to.deep.equal(['name', 'state', 'note', 'tags']);
  });

  it('sorts by every field with a single value unless it names some', () => {
    const { sort } = defineResource({ name: 'orders', item: described, storage });
    expect(sort).to.deep.equal(['id', 'name', 'state', 'note', 'parentId', 'size', 'at', 'paid']);
  });

  it('gives reasons in the 405 and in the document', async () => {
    const reason = 'An order is never deleted.';
    const api = await serve({
      resources: [defineResource({ name: 'orders', item, notAllowed: { deleteMany: reason }, storage })],
    });
    const { status, headers, messages } = await api.call('/api/v1/orders', { method: 'DELETE' });
    const { body } = await api.call('/api/v1/openapi.json');
    await api.close();
    expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    expect(messages).to.contain('DELETE is not possible here: An order is never deleted');
    expect(body)
      .to.have.nested.property('paths./orders.get.description')
      .that.contains(`DELETE is not possible: ${reason}`);
  });
});
