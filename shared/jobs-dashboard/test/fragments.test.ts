import { expect } from 'chai';
import { openSite, type Site } from './dashboard-site.js';

describe('a fragment with many viewers', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({
      cacheMs: 60_000,
      authorize: (ctx) => ({ name: ctx.get('x-user'), role: ctx.get('x-role') === '' ? 'admin' : 'viewer' }),
      control: ({ storage }) => storage,
    });
  });
  afterEach(() => site.close());

  const fragment = async (path: string, region: string, user: Record<string, string>): Promise<string> => {
    const headers = { 'longshore-region': region, ...user };
    return (await site.http.get(`/job-dashboard${path}`, { headers })).text;
  };

  it('is rendered once', async () => {
    const first = await fragment('/servers', 'servers', { 'x-user': 'ann' });
    site.story.storage.manualClock.advance(5_000);
    expect(await fragment('/servers', 'servers', { 'x-user': 'bob' })).to.equal(first);
  });

  it('is rendered for each viewer if it has forms, whose tokens are personal', async () => {
    const tokens = await Promise.all(
      ['ann', 'bob'].map(async (user) => {
        const text = await fragment('/queues/mail', 'queue', { 'x-user': user });
        return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
      }),
    );
    const answers = await Promise.all(
      tokens.map((token) =>
        site.http.post('/job-dashboard/queues/mail/pause', new URLSearchParams({ token }).toString(), {
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-user': 'bob' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([403, 303]);
  });

  it('differs by role', async () => {
    await fragment('/queues/mail', 'queue', { 'x-user': 'ann' });
    const seen = await fragment('/queues/mail', 'queue', { 'x-user': 'bob', 'x-role': 'viewer' });
    expect(seen).to.include('data-region="queue"').and.not.include('<form');
  });
});
