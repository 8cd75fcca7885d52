import { expect } from 'chai';
import { openSite, type Site } from './dashboard-site.js';

describe('A saved search', () => {
  let site: Site;
  const page = async (query = ''): Promise<string> =>
    (await site.http.get(`/job-dashboard/jobs${query}`)).text;
  const send = async (action: string, fields: Readonly<Record<string, string>>): Promise<number> => {
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page('?state=failed')) ?? [];
    const body = new URLSearchParams({ token, ...fields }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await site.http.request('POST', `/job-dashboard/${action}`, { body, headers })).status;
  };

  before(async () => {
    site = await openSite({
      authorize: () => ({ name: 'ann', role: 'operator' }),
      control: ({ storage }) => storage,
    });
  });

  after(() => site.close());

  it('is linked above the list for everyone, and audited', async () => {
    const search = 'state=failed&since=2h&page=3';
    expect(await send('searches/save', { name: 'Fresh “failures”', search })).to.equal(303);
    expect(await page()).to.include('href="./jobs?state=failed&amp;since=2h" title="Saved by ann"');
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.include({ who: 'ann', action: 'searches/save', target: 'Fresh “failures”' });
    expect(await send('searches/delete', { name: 'Fresh “failures”' })).to.equal(303);
    expect(await page()).not.to.include('Saved by ann');
  });

  for (const name of ['.', '..', '%2e%2e', 'a/b', '/', 'a?b#c', '"><x7>']) {
    it(`can be deleted if its name is ${name}`, async () => {
      expect(await send('searches/save', { name, search: 'state=failed' })).to.equal(303);
      const form = /action="\.\/(searches\/delete[^"]*)"[^]*?name="name" value="([^"]*)"/.exec(
        await page('?state=failed'),
      );
      const [, action = '', fields = ''] = form ?? [];
      const entities: Record<string, string> = { '&#34;': '"', '&lt;': '<', '&gt;': '>' };
      const decoded = fields.replaceAll(/&[^;]+;/g, (entity) => entities[entity] ?? entity);
      // Resolves the form's URL against the page's URL, as browsers do.
      const { pathname } = new URL(action, `${site.url}/job-dashboard/`);
      expect(await send(pathname.slice('/job-dashboard/'.length), { name: decoded })).to.equal(303);
      expect(await site.story.storage.savedSearches.list()).to.deep.equal([]);
      const [entry] = await site.story.storage.audit.list({ limit: 1 });
      expect(entry).to.include({ action: 'searches/delete', target: name });
    });
  }

  it('must have a name and a valid filter', async () => {
    expect(await send('searches/save', { name: ' ', search: 'state=failed' })).to.equal(422);
    expect(await send('searches/save', { name: 'All', search: '' })).to.equal(422);
    expect(await send('searches/save', { name: 'Secrets', search: 'args.password=x' })).to.equal(400);
    expect(await site.story.storage.savedSearches.list()).to.deep.equal([]);
  });

  it('is a form only for those who may save it', async () => {
    const reading = await openSite({ authorize: () => ({ name: 'bob', role: 'viewer' }) });
    try {
      const { text } = await reading.http.get('/job-dashboard/jobs?state=failed');
      expect(text).not.to.include('searches/save');
    } finally {
      await reading.close();
    }
    expect(await page('?state=failed')).to.include('searches/save');
  });
});
