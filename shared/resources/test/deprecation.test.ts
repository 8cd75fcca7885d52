import { DefinitionError, defineResource, type OpenApiDocument, type Resource } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { baseUrl, serve, type TestApi } from './support/api.js';

const item = { id: '7', name: 'seven' };

const described = {
  search: [],
  item: Type.Object({ id: Type.String(), name: Type.String() }),
  storage: {
    list: async () => ({ items: [item], total: 1 }),
    get: async () => item,
    operations: { archive: async () => item, open: async () => item },
  },
};

const operations = { archive: { summary: 'Archive it' }, open: { summary: 'Open it' } };

/** All calls of `letters` and their `stamps` are deprecated, but only two calls of `parcels`. */
const resources: readonly Resource[] = [
  defineResource({
    ...described,
    name: 'letters',
    operations,
    deprecated: { since: '2026-01-01', sunset: '2026-07-01T12:00:00Z', instead: 'Use parcels.' },
    children: [{ resource: defineResource({ ...described, name: 'stamps', operations }) }],
  }),
  defineResource({
    ...described,
    name: 'parcels',
    calls: { list: { deprecated: { since: '2026-02-01' } } },
    operations: { ...operations, archive: { summary: 'Archive it', deprecated: { since: '2026-03-01' } } },
  }),
];

describe('A deprecation', () => {
  let api: TestApi;
  before(async () => (api = await serve({ resources })));
  after(() => api.close());

  const announced = async (method: string, path: string): Promise<readonly (string | null)[]> => {
    const { headers } = await api.call(`/api/v1${path}`, { method });
    return [headers.get('deprecation'), headers.get('sunset')];
  };

  it('of a resource is announced on all its calls, with the end, and below it', async () => {
    const both = ['@1767225600', 'Wed, 01 Jul 2026 12:00:00 GMT'];
    expect([
      await announced('GET', '/letters'),
      await announced('HEAD', '/letters/7'),
      await announced('PUT', '/letters/7/open'),
      await announced('GET', '/letters/7/stamps'),
    ]).to.deep.equal([both, both, both, both]);
  });

  it('of a call or of an operation is announced on that alone', async () => {
    expect([
      await announced('GET', '/parcels'),
      await announced('PUT', '/parcels/7/archive'),
      await announced('GET', '/parcels/7'),
      await announced('PUT', '/parcels/7/open'),
    ]).to.deep.equal([
      ['@1769904000', null],
      ['@1772323200', null],
      [null, null],
      [null, null],
    ]);
  });

  it('links to the reference, beside the links to other pages', async () => {
    const { headers } = await api.call('/api/v1/parcels');
    expect(headers.get('link'))
      .to.contain('rel="first"')
      .and.contain(`<${baseUrl}/api/v1/docs>; rel="deprecation"`);
  });

  it('is part of the document: the flag, the dates and the headers', async () => {
    const { paths } = JSON.parse((await api.call('/api/v1/openapi.json')).text) as OpenApiDocument;
    const calls = Object.entries(paths).flatMap(([path, operationsAt]) =>
      Object.entries(operationsAt)
        .filter(([, operation]) => (operation as { deprecated?: boolean }).deprecated)
        .map(([method]) => `${method} ${path}`),
    );
    expect(calls).to.deep.equal([
      'get /letters',
      'get /letters/{letterId}',
      'put /letters/{letterId}/archive',
      'put /letters/{letterId}/open',
      'get /letters/{letterId}/stamps',
      'get /letters/{letterId}/stamps/{stampId}',
      'put /letters/{letterId}/stamps/{stampId}/archive',
      'put /letters/{letterId}/stamps/{stampId}/open',
      'get /parcels',
      'put /parcels/{parcelId}/archive',
    ]);
    const { description, responses } = (paths['/letters']?.['get'] ?? {}) as {
      description: string;
      responses: Record<string, { headers: object }>;
    };
    expect(description).to.match(
      /^Deprecated since 2026-01-01; stops working on 2026-07-01. Use parcels. Returns/,
    );
    expect(responses['200']?.headers).to.include.keys('Deprecation', 'Sunset', 'Link');
  });

  it('needs times that can be read, the end after the beginning', () => {
    const define = (since: string, sunset: string) => () =>
      defineResource({ ...described, name: 'letters', operations, deprecated: { since, sunset } });
    expect(define('1 January 2026', '2027-01-01')).to.throw(
      DefinitionError,
      '"1 January 2026" must be a date',
    );
    expect(define('2026-02-01', '2026-01-01')).to.throw(DefinitionError, 'must be later than 2026-02-01');
  });
});
