import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

/** An attribute's value as browsers read it. */
function plain(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#34;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

describe('an action on many jobs', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
  });
  afterEach(() => site.close());

  const get = async (path: string): Promise<string> => {
    const { status, text } = await site.http.get(`/job-dashboard/${path}`);
    expect(status, path).to.equal(200);
    return text;
  };
  /** Sends the form that a confirmation page has, and carries the operation out. */
  const confirm = async (path: string): Promise<string> => {
    const text = await get(path);
    const [, action = ''] = /<form class="acts" method="post" action="([^"]+)"/.exec(text) ?? [];
    const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    const { status, headers } = await site.http.post(
      new URL(action, 'http://dashboard.test/job-dashboard/bulk/confirm').pathname,
      form.toString(),
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    );
    expect(status).to.equal(303);
    while (await site.story.storage.bulk.advance());
    return new URL(headers.location ?? '', 'http://dashboard.test/job-dashboard/').pathname.slice(
      '/job-dashboard/'.length,
    );
  };
  const failed = async () => (await site.story.storage.stateCounts()).failed;

  it('is confirmed by a page that says how many jobs, which, and what happens', async () => {
    const text = textOf(await get('bulk/confirm?action=retry&state=failed'));
    expect(text).to.include('2 jobs at the moment').and.include('state:failed');
    expect(text).to.include('They go back to their queues').and.include('charge-card');
  });

  it('changes nothing by being looked at', async () => {
    await get('bulk/confirm?action=retry&state=failed');
    expect(await failed()).to.equal(2);
  });

  it('is done to all that match, and leads to a page with the result', async () => {
    const path = await confirm('bulk/confirm?action=retry&state=failed');
    expect(await failed()).to.equal(0);
    expect(textOf(await get(path)))
      .to.include('2 retried')
      .and.include('Asked for by local');
  });

  it('is done to the marked jobs only', async () => {
    await confirm(`bulk/confirm?selected=1&action=retry&id=${site.story.failedId}`);
    expect(await failed()).to.equal(1);
    expect(await site.story.storage.findJob(site.story.failedId)).to.include({ state: 'enqueued' });
  });

  it('counts none where no job can be in a state for it', async () => {
    expect(textOf(await get('bulk/confirm?action=run&state=failed'))).to.include('0 jobs at the moment');
  });

  it('is noted in the audit with its filter and how many jobs it was for', async () => {
    await confirm('bulk/confirm?action=retry&state=failed&queue=billing');
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.deep.include({ who: 'local', action: 'bulk-retry', count: 1 });
    expect(entry?.filter).to.deep.equal({ state: 'failed', terms: [{ key: 'queue', value: 'billing' }] });
    expect(textOf(await get('audit'))).to.include('local retried many jobs queue:billing');
  });

  it('means by “2 hours ago” what it meant on the page that was confirmed', async () => {
    expect(await get('bulk/confirm?action=retry&since=2h')).to.include(
      'name="since" value="2026-03-01T12:05:00.000Z"',
    );
  });

  for (const [query, why] of [
    ['action=explode', 'There is no such action'],
    ['action=retry&selected=1', 'No job is selected'],
    ['action=retry&id=1', 'It is not clear which jobs are meant'],
    ['action=retry&state=lost', 'There is no such state'],
  ] as const) {
    it(`is not asked for by ${query}`, async () => {
      const { status, text } = await site.http.get(`/job-dashboard/bulk/confirm?${query}`);
      expect([status, textOf(text).includes(why)]).to.deep.equal([400, true]);
    });
  }

  it('is offered for a group of errors, and reaches the jobs of that group only', async () => {
    const [, path = ''] = /href="\.\/(bulk\/confirm[^"]*CardDeclined[^"]*)"/.exec(await get('errors')) ?? [];
    await confirm(plain(path));
    expect(await failed()).to.equal(1);
    expect(await site.story.storage.findJob(site.story.failedId)).to.include({ state: 'enqueued' });
  });

  it('is offered for a narrowed list, but not for every job there is', async () => {
    expect(await get('jobs?state=failed')).to.include('bulk/confirm?state=failed&amp;action=retry');
    expect(await get('jobs')).not.to.include('action=retry"');
  });
});
