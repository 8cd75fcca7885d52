import { expect } from 'chai';
import type { Role } from '../src/auth/authenticator.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the page of set-aside items', () => {
  let site: Site;
  const jobId = '019ca000-0000-7000-8000-000000000001';
  const keys = async (): Promise<string[]> =>
    (await site.story.storage.setAside.list({ limit: 10 })).map(({ key }) => key);
  let role: Role = 'operator';
  beforeEach(async () => {
    role = 'operator';
    site = await openSite({
      authorize: () => ({ name: 'ada', role }),
      control: ({ storage }) => storage,
    });
    const { setAside } = site.story.storage;
    const error = new Error('poisoned');
    setAside.add({ role: 'scheduler', key: jobId, queue: 'mail', jobId }, error);
    setAside.add({ role: 'recurring', key: 'nightly' }, error);
  });
  afterEach(() => site.close());

  const page = async (): Promise<string> => (await site.http.get('/job-dashboard/set-aside')).text;
  const post = async (path: string) => {
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page()) ?? [];
    return site.http.post(`/job-dashboard/set-aside/${path}`, new URLSearchParams({ token }).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('shows what failed and why, with links to what the items are about', async () => {
    const html = await page();
    expect(textOf(html)).to.include('Making a job ready job 00000001').and.include('Error : poisoned');
    expect(html).to.include('href="./jobs/019ca000-0000-7000-8000-000000000001"');
    expect(html).to.include('href="./recurring/nightly"');
  });

  it('is linked from the warning', async () => {
    expect((await site.http.get('/job-dashboard')).text).to.include('href="./job-dashboard/set-aside"');
  });

  for (const action of ['retry', 'discard']) {
    it(`lets operators ${action} an item, and records it in the history of its job`, async () => {
      const { status, headers } = await post(`1/${action}`);
      expect(status).to.equal(303);
      expect(headers['location']).to.match(/^\.\.\/\.\.\/set-aside\?done=/);
      const [entry] = await site.story.storage.audit.list({ limit: 1 });
      expect(entry).to.include({
        who: 'ada',
        action: `set-aside/${action}`,
        target: jobId,
        count: 1,
      });
      const audit = (await site.http.get('/job-dashboard/audit')).text;
      expect(audit).to.include('href="./jobs/019ca000-0000-7000-8000-000000000001"');
    });
  }

  it('answers 404 for an item that is gone', async () => {
    expect([(await post('3/retry')).status, (await post('any/discard')).status]).to.deep.equal([404, 404]);
    expect(await keys()).to.deep.equal(['nightly', jobId]);
  });

  it('offers viewers no actions', async () => {
    role = 'viewer';
    expect(await page())
      .to.include('Making a job ready')
      .and.not.include('<form class="act"');
  });
});
