import { defineResource, type OpenApiDocument, type Resource } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

const Item = Type.Object({ id: Type.String(), name: Type.String() });

const unused = async (): Promise<never> => {
  throw new Error('never called');
};

/** Returns a resource that serves every call. One call has a note, and `archive` is the only operation. */
function resource(name: string, children: readonly Resource[] = [], singular?: string): Resource {
  return defineResource({
    name,
    ...(singular !== undefined && { singular }),
    item: Item,
    calls: { delete: { note: 'It cannot be restored.' } },
    operations: { archive: { summary: 'Archive it' } },
    children: children.map((child) => ({ resource: child })),
    storage: {
      list: unused,
      create: unused,
      replaceMany: unused,
      deleteMany: unused,
      get: unused,
      replace: unused,
      patch: unused,
      delete: unused,
      operations: { archive: unused },
    },
  });
}

const period = (description: string) =>
  Type.Object({ days: Type.Integer() }, { title: 'Period', description });

/** A bulk PUT changes only the field `note`. Loans can be extended only while they are open or late. */
const loans = defineResource({
  name: 'loans',
  item: Type.Object({
    id: Type.String(),
    state: Type.Enum(['open', 'late', 'extended', 'lost', 'returned']),
    note: Type.String(),
    first: period('Before it was extended'),
    last: period('After it was extended'),
  }),
  bulk: ['note'],
  filters: { state: 'exact' },
  operations: {
    extend: {
      summary: 'Extend a loan',
      note: 'Twice at most.',
      states: {
        field: 'state',
        from: ['open', 'late'],
        to: ['extended'],
        unchanged: ['extended', 'lost'],
      },
    },
  },
  storage: { list: unused, replaceMany: unused, get: unused, operations: { extend: unused } },
});

describe('The words of the reference', () => {
  let api: TestApi;
  let document: OpenApiDocument;
  before(async () => {
    const customers = resource('customers', [
      resource('orders', [resource('entries')]),
      resource('events', [], 'customer-event'),
    ]);
    api = await serve({
      resources: [customers, resource('api-keys'), resource('hours'), resource('users'), loans],
    });
    document = JSON.parse((await api.call('/api/v1/openapi.json')).text) as OpenApiDocument;
  });
  after(() => api.close());

  const operationAt = (method: string, path: string): { summary: string; description: string } =>
    document.paths[path]?.[method] as { summary: string; description: string };

  it('name each call with the right article and number', () => {
    const order = '/customers/{customerId}/orders/{orderId}';
    const summaries = [
      ['post', '/api-keys'],
      ['get', '/hours/{hourId}'],
      ['put', '/users/{userId}'],
      ['patch', '/users/{userId}'],
      ['delete', '/users/{userId}'],
      ['get', '/api-keys'],
      ['put', '/hours'],
      ['delete', '/hours'],
      ['post', '/customers/{customerId}/orders'],
      ['get', `${order}/entries`],
      ['get', '/customers/{customerId}/events/{customerEventId}'],
    ].map(([method = '', path = '']) => operationAt(method, path).summary);
    expect(summaries).to.deep.equal([
      'Create an API key',
      'Retrieve an hour',
      'Replace a user',
      'Update a user',
      'Delete a user',
      'List API keys',
      'Replace several hours',
      'Delete hours',
      'Create an order for a customer',
      'List the entries of a customer’s order',
      'Retrieve an event of a customer',
    ]);
  });

  it('name a bulk PUT after what it does', () => {
    expect(document.paths['/users']?.['put']).to.include({ operationId: 'replaceUsers' });
    expect(document.paths['/loans']?.['put']).to.include({
      operationId: 'updateLoans',
      summary: 'Update several loans',
    });
  });

  it('state when an operation is allowed, when it has no effect and when it is refused', () => {
    expect(operationAt('put', '/loans/{loanId}/extend').description).to.equal(
      'Returns the updated loan. Allowed while `state` is `open` or `late`, which it changes to `extended`. Has no effect if it is already `extended` or `lost`; in any other state, the answer is 409 (40902). Twice at most.',
    );
  });

  it('give an object that several fields share the name of its title', () => {
    const { Loan, Period } = document.components.schemas;
    expect([Loan?.properties?.['first'], Loan?.properties?.['last']]).to.deep.equal([
      { description: 'Before it was extended.', $ref: '#/components/schemas/Period' },
      { description: 'After it was extended.', $ref: '#/components/schemas/Period' },
    ]);
    expect(Period?.description).to.equal('Period.');
  });

  it('mention filters only if there are any', () => {
    expect(operationAt('get', '/loans').description).to.match(/^Returns one page of loans\. Use filters /);
    expect(operationAt('get', '/users').description).to.match(/^Returns one page of users\. Use `sort` /);
  });

  it('end with the notes of the definition', () => {
    expect(operationAt('delete', '/users/{userId}').description).to.equal(
      'Deletes the user. It cannot be restored.',
    );
  });

  it('describe schemas with the right article', () => {
    expect(document.components.schemas['ApiKey']?.description).to.equal('An API key.');
  });
});
