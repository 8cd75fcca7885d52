import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site } from './dashboard-site.js';

describe('compression', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
    // Waits until pages show the overall state. After that, it does not change during the test.
    await eventually(
      async () => !/id="health"[^>]* hidden/.test((await site.http.get('/job-dashboard/jobs')).text),
    );
  });
  after(() => site.close());

  const fetched = async (
    path: string,
  ): Promise<{ encoding: string | undefined; vary: string | undefined; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const headers = { 'accept-encoding': 'gzip' };
      get(`${site.url}/job-dashboard${path}`, { headers, agent: false }, (response) => {
        const { 'content-encoding': encoding, vary } = response.headers;
        buffer(response).then((body) => resolve({ encoding, vary, body }), reject);
      }).on('error', reject);
    });

  it('serves the same page to clients that accept it, in a quarter of the bytes', async () => {
    // Waits until the page shows the number of warnings. The two requests below then return the same page.
    await eventually(async () =>
      (await site.http.get('/job-dashboard/jobs')).text.includes(' warnings</span>'),
    );
    const { encoding, vary, body } = await fetched('/jobs');
    const plain = await site.http.get('/job-dashboard/jobs');
    expect([encoding, vary, plain.headers.vary]).to.deep.equal([
      'gzip',
      'Accept-Encoding',
      'Accept-Encoding',
    ]);
    expect(gunzipSync(body).toString()).to.equal(plain.text);
    expect(body.length).to.be.below(plain.text.length / 4);
  });

  it('skips short responses', async () => {
    expect((await fetched('/jobs?q=mail')).encoding).to.equal(undefined);
  });

  it('compresses the style sheet', async () => {
    const { text } = await site.http.get('/job-dashboard/');
    const sheet = /href="\.(\/assets\/[^"]*\.css)"/.exec(text)?.[1] ?? '';
    const { encoding, body } = await fetched(sheet);
    expect(encoding).to.equal('gzip');
    expect(gunzipSync(body).toString()).to.equal((await site.http.get(`/job-dashboard${sheet}`)).text);
  });
});
