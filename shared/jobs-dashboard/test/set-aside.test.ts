import type { SetAsideItem } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import type { Role } from '../src/auth/viewer.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { setAside } from './situation.js';

describe('the page of set-aside items', () => {
  let site: Site;
  let role: Role = 'operator';
  let items: SetAsideItem[] = [];
  let carriedOut: string[] = [];
  beforeEach(async () => {
    role = 'operator';
    items = [setAside(), setAside({ id: '2', role: 'recurring', key: 'nightly', jobId: null, queue: null })];
    carriedOut = [];
    const carryOut =
      (what: string) =>
      async (id: string, { check }: { check?: ((item: SetAsideItem) => void) | undefined } = {}) => {
        const item = items.find((candidate) => candidate.id === id);
        if (item === undefined) return false;
        check?.(item);
        carriedOut.push(`${what} ${id}`);
        return true;
      };
    const part = { list: async () => items, retry: carryOut('retry'), discard: carryOut('discard') };
    site = await openSite({
      authorize: () => ({ name: 'ada', role }),
      read: ({ storage }) => overriding(storage, { setAside: part }),
      control: ({ storage }) => overriding(storage, { setAside: part }),
    });
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
    expect(textOf(html)).to.include('Making a job ready job 00000001').and.include('error : poisoned');
    expect(html).to.include('href="./jobs/019ca000-0000-7000-8000-000000000001"');
    expect(html).to.include('href="./recurring/nightly"');
  });

  it('is linked from the warning', async () => {
    expect((await site.http.get('/job-dashboard')).text).to.include('href="./job-dashboard/set-aside"');
  });

  for (const action of ['retry', 'discard']) {
    it(`lets operators ${action} an item, and records it in the history of its job`, async () => {
      const { status, headers } = await post(`1/${action}`);
      expect([status, carriedOut]).to.deep.equal([303, [`${action} 1`]]);
      expect(headers['location']).to.match(/^\.\.\/\.\.\/set-aside\?done=/);
      const [entry] = await site.story.storage.audit.list({ limit: 1 });
      expect(entry).to.include({
        who: 'ada',
        action: `set-aside/${action}`,
        target: '019ca000-0000-7000-8000-000000000001',
        count: 1,
      });
      const audit = (await site.http.get('/job-dashboard/audit')).text;
      expect(audit).to.include('href="./jobs/019ca000-0000-7000-8000-000000000001"');
    });
  }

  it('answers 404 for an item that is gone', async () => {
    expect([(await post('3/retry')).status, (await post('any/discard')).status]).to.deep.equal([404, 404]);
    expect(carriedOut).to.deep.equal([]);
  });

  it('offers viewers no actions', async () => {
    role = 'viewer';
    expect(await page())
      .to.include('Making a job ready')
      .and.not.include('<form class="act"');
  });
});
