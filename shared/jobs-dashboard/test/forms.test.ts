import { expect } from 'chai';
import type { HttpResponse } from '@longshore/test-support';
import type { Role } from '../src/index.js';
import { openSite, type Site } from './dashboard-site.js';

describe('the form of an action', () => {
  let site: Site;
  let role: Role;
  let name: string;
  beforeEach(async () => {
    role = 'admin';
    name = 'ada';
    site = await openSite({ authorize: () => ({ name, role }), control: ({ storage }) => storage });
  });
  afterEach(() => site.close());

  const token = async (): Promise<string> => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  };
  const post = (path: string, form: Record<string, string>): Promise<HttpResponse> =>
    site.http.post(`/job-dashboard${path}`, new URLSearchParams(form).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const act = async (path: string): Promise<HttpResponse> => post(path, { token: await token() });

  it('rejects a token made for another user', async () => {
    const hers = await token();
    name = 'eve';
    expect((await post(`/jobs/${site.story.failedId}/retry`, { token: hers })).status).to.equal(403);
  });

  it('is one action when sent twice', async () => {
    const form = { token: await token() };
    const answers = await Promise.all([1, 2].map(() => post('/recurring/count-stock/trigger', form)));
    const [first, second] = answers.map(({ status, headers }) => [status, headers.location]);
    expect(first).to.deep.equal(second);
    expect((await site.story.storage.audit.list({ limit: 2 })).map(({ action }) => action)).not.to.deep.equal(
      ['recurring/trigger', 'recurring/trigger'],
    );
  });

  it('is another action after a reload of the page', async () => {
    const first = await act('/recurring/count-stock/trigger');
    const second = await act('/recurring/count-stock/trigger');
    expect(first.headers.location).not.to.equal(second.headers.location);
  });

  it('may be sent again after it failed', async () => {
    const form = { token: await token() };
    const path = `/jobs/${site.story.failedId}/cancel`;
    expect((await post(path, form)).status).to.equal(409);
    await site.story.storage.control.retry(site.story.failedId);
    expect((await post(path, form)).status).to.equal(303);
  });

  it('changes on an open page hourly, on key rotation, and with the role', async () => {
    const path = `/job-dashboard/jobs/${site.story.failedId}`;
    const [, name = '', etag = ''] =
      /data-region="([^"]+)" data-every="\d+" data-etag="([^"]+)"/.exec((await site.http.get(path)).text) ??
      [];
    const headers = { 'longshore-region': name, 'if-none-match': etag.replaceAll('&#34;', '"') };
    const again = async () => (await site.http.get(path, { headers })).status;
    expect(await again()).to.equal(304);
    role = 'viewer';
    expect(await again()).to.equal(200);
    role = 'admin';
    site.story.storage.manualClock.advance(3_600_000);
    expect(await again()).to.equal(200);
  });
});
