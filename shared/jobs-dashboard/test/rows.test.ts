import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the rows of lists', () => {
  let site: Site;
  const page = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard${path}`)).text);
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('say the time that matters for a job in its state', async () => {
    const text = await page('/jobs');
    expect(text).to.match(/Enqueued sync-inventory \S+ images ready (29|30) s ago/);
    expect(text).to.match(/Processing resize-image \S+ images started (29|30) s ago/);
    expect(text).to.match(/Scheduled nightly-report \S+ default due in 57 min/);
    expect(text).to.match(/Failed send-newsletter \S+ newsletter ended 1 min ago/);
    expect(text).to.match(/Awaiting publish-catalogue \S+ default created 7 min ago/);
  });

  it('name a job’s attempt only if it is not the first', async () => {
    expect(await page('/jobs?state=done&name=send-invoice')).to.include('attempt 3 of 10');
    expect(await page('/jobs?name=send-receipt')).not.to.include('attempt');
  });

  it('list the queues where nothing goes on last, and those that nobody serves first', async () => {
    expect(await page('/queues')).to.match(
      / search 1 .* newsletter 4 .* images 5 .* default 0 .* billing 0 /,
    );
  });

  it('sort the queues by a column', async () => {
    const { text } = await site.http.get('/job-dashboard/queues?sort=wait');
    expect(textOf(text)).to.match(/ search 1 .* newsletter 4 .* images 5 /);
    expect(text).to.match(/aria-sort="descending"><a href="\.\/queues\?sort=wait"/);
  });

  it('show a queue’s limits in the list', async () => {
    const limited = await openSite();
    try {
      const { storage } = limited.story;
      await storage.limitQueue('images', { concurrencyLimit: 6, rateLimit: { jobs: 90, periodMs: 60_000 } });
      const { text } = await limited.http.get('/job-dashboard/queues');
      expect(textOf(text)).to.include('images 90 per min').and.include('5 of 6');
    } finally {
      await limited.close();
    }
  });
});
