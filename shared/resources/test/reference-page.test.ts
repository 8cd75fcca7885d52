import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { baseUrl, serve, type TestApi } from './support/api.js';

interface Raw {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

describe('The reference page', () => {
  let api: TestApi;
  let html: string;
  let script: string;
  before(async () => {
    api = await serve({ resources: [], prefix: '/shop' });
    html = (await api.call('/api/v1/docs')).text;
    script = /src="\/shop(\/api\/v1\/docs\/scalar-\w+\.js)"/.exec(html)?.[1] ?? '';
  });
  after(() => api.close());

  /** Requests a path with this `Accept-Encoding`. Unlike `fetch`, does not decode the response. */
  const raw = (path: string, encoding: string): Promise<Raw> =>
    new Promise((resolve, reject) => {
      get(api.url + path, { headers: { 'accept-encoding': encoding } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      }).on('error', reject);
    });

  it('loads only from its own origin, and may call only that and the configured server', async () => {
    const policy = (await api.call('/api/v1/docs')).headers.get('content-security-policy') ?? '';
    expect(html).not.to.match(/(?:src|href)="(?:https?:)?\/\//);
    expect(policy)
      .to.contain("default-src 'none'")
      .and.contain("script-src 'self'")
      .and.contain(`connect-src 'self' ${baseUrl}`);
  });

  it('keeps its policy when a browser loads it again', async () => {
    const { headers } = await api.call('/api/v1/docs');
    const again = await api.call('/api/v1/docs', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    const policy = 'content-security-policy';
    expect([again.status, again.headers.get(policy)]).to.deep.equal([304, headers.get(policy)]);
  });

  it('starts the renderer with the document behind the prefix, without telemetry, fonts or proxy', async () => {
    const start = (await api.call('/api/v1/docs/start.js')).text;
    expect(start)
      .to.contain('"url":"/shop/api/v1/openapi.json"')
      .and.contain('"telemetry":false')
      .and.contain('"withDefaultFonts":false')
      .and.not.contain('proxyUrl');
  });

  it('sends the renderer compressed as the caller accepts it, to be kept for a year', async () => {
    const plain = await raw(script, 'identity');
    const zipped = await raw(script, 'gzip');
    const smallest = await raw(script, 'gzip, br');
    expect([plain, zipped, smallest].map(({ headers }) => headers['content-encoding'])).to.deep.equal([
      undefined,
      'gzip',
      'br',
    ]);
    expect(gunzipSync(zipped.body).equals(plain.body)).to.equal(true);
    expect(brotliDecompressSync(smallest.body).equals(plain.body)).to.equal(true);
    expect(smallest.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
  });

  it('explains errors, paging and deprecation in the document', async () => {
    const { info } = (await api.call('/api/v1/openapi.json')).body as { info: { description: string } };
    const headings = info.description.match(/^## .*$/gm);
    expect(headings).to.deep.equal([
      '## Authentication',
      '## Errors',
      '## Lists and paging',
      '## Concurrent changes',
      '## Idempotency',
      '## Versions and deprecation',
    ]);
  });
});
