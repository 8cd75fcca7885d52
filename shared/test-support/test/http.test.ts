import { text } from 'node:stream/consumers';
import { httpClient, serve, type HttpClient, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';

describe('httpClient', () => {
  let server: TestServer;
  let client: HttpClient;

  before(async () => {
    server = await serve((request, response) => {
      void text(request).then((body) => {
        const { method, url, headers } = request;
        response.writeHead(202, { 'x-seen': 'yes' });
        response.end(JSON.stringify({ method, url, type: headers['content-type'] ?? null, body }));
      });
    });
    client = httpClient(server.url);
  });
  after(() => server.close());

  it('sends a path byte for byte', async () => {
    const response = await client.get('/a/../%zz?x=%00');
    expect(response.json()).to.have.property('url', '/a/../%zz?x=%00');
  });

  it('sends an object as JSON', async () => {
    const response = await client.post('/', { a: 1 });
    expect(response.json()).to.include({ body: '{"a":1}', type: 'application/json' });
  });

  it('sends text unchanged and without a type', async () => {
    const response = await client.post('/', '{"a":');
    expect(response.json()).to.include({ body: '{"a":', type: null });
  });

  it('returns status and headers', async () => {
    const { status, headers } = await client.request('DELETE', '/');
    expect([status, headers['x-seen']]).to.deep.equal([202, 'yes']);
  });

  it('returns the response to bytes that are not HTTP', async () => {
    expect(await client.raw('nonsense\r\n\r\n')).to.match(/^HTTP\/1\.1 400 /);
  });
});
