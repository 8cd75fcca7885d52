import { expect } from 'chai';
import Type from 'typebox';
import { defineResource } from '@longshore/resources';
import { baseUrl, serve, type TestApi } from './support/api.js';

const resources = [
  defineResource({
    name: 'parcels',
    description: 'What is sent.',
    item: Type.Object({ id: Type.String() }),
    storage: { get: async () => undefined },
  }),
];

describe('The index', () => {
  let api: TestApi;
  before(async () => (api = await serve({ resources, prefix: '/shop' })));
  after(() => api.close());

  const links = {
    version: 'v1',
    url: `${baseUrl}/shop/api/v1`,
    reference: `${baseUrl}/shop/api/v1/docs`,
    document: `${baseUrl}/shop/api/v1/openapi.json`,
  };

  for (const path of ['/', '/api', '/api/', '/shop', '/shop/', '/shop/api'])
    it(`at ${path} lists the versions`, async () => {
      expect((await api.call(path)).body).to.deep.equal({ name: 'API', versions: [links] });
    });

  for (const path of ['/api/v1', '/api/v1/', '/shop/api/v1'])
    it(`at ${path} lists the resources`, async () => {
      const parcels = { name: 'parcels', url: `${links.url}/parcels`, description: 'What is sent.' };
      expect((await api.call(path)).body).to.deep.equal({ ...links, resources: [parcels] });
    });

  it('is HTML with links for browsers', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const { headers: answered, text } = await api.call('/api/v1', { headers });
    expect(answered.get('content-type')).to.contain('text/html');
    expect(text)
      .to.contain(`<a href="${links.url}/parcels">parcels</a>`)
      .and.contain(`href="${links.reference}"`);
  });

  for (const path of [
    '/',
    '/api',
    '/api/v1',
    '/api/v1/openapi.json',
    '/api/v1/docs',
    '/api/v1/docs/start.js',
  ])
    it(`rejects unknown parameters at ${path}`, async () => {
      expect((await api.call(`${path}?x=1`)).codes).to.deep.equal([40002]);
    });

  it('is read-only', async () => {
    expect((await api.call('/api/v1', { method: 'POST' })).codes).to.deep.equal([40501]);
  });
});
