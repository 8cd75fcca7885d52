import { defineJob, JobClient } from '@longshore/jobs';
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

  it('show the time that matters in the job’s state', async () => {
    const text = await page('/jobs');
    expect(text).to.match(/Enqueued sync-inventory \S+ images ready (29|30) s ago/);
    expect(text).to.match(/Running resize-image \S+ images started (29|30) s ago/);
    expect(text).to.match(/Scheduled nightly-report \S+ default due in 57 min/);
    expect(text).to.match(/Failed send-newsletter \S+ newsletter finished 1 min ago/);
    expect(text).to.match(/Awaiting publish-catalogue \S+ default created 7 min ago/);
  });

  it('omit arguments larger than a few kilobytes', async () => {
    const { storage } = site.story;
    const definition = defineJob({ name: 'large' });
    await new JobClient(storage).enqueue(definition, { text: 'x'.repeat(100_000) });
    const text = await page('/jobs?name=large');
    expect(text).to.include('(more than 8 kB)').and.not.include('xxx');
  });

  it('show a job’s attempt only if it is not the first', async () => {
    expect(await page('/jobs?state=done&name=send-invoice')).to.include('attempt 3 of 10');
    expect(await page('/jobs?name=send-receipt')).not.to.include('attempt');
  });

  it('list unserved queues first and idle ones last', async () => {
    expect(await page('/queues')).to.match(/ search .* newsletter .* images .* default .* billing /);
  });

  it('sort the queues by a column', async () => {
    const { text } = await site.http.get('/job-dashboard/queues?sort=wait');
    expect(textOf(text)).to.match(/ search .* newsletter .* images /);
    expect(text).to.match(/aria-sort="descending"><a href="\.\/queues\?sort=wait"/);
  });

  it('show how many jobs of each queue finished in the last hour, as its page does', async () => {
    for (const path of ['/', '/queues']) {
      const text = await page(path);
      for (const name of ['newsletter', 'images', 'billing']) {
        const [, done, failed] = new RegExp(` ${name} (\\d+) done, (\\d+) failed`).exec(text) ?? [];
        expect(await page(`/queues/${name}`)).to.include(`last hour ${done} done, ${failed} failed`);
      }
      expect(text).to.match(/ newsletter 6 done, 1 failed 7 4 /);
      expect(text).to.match(/ billing 0 done, 1 failed 1 0 /);
    }
  });

  it('draw only the axis for a queue in which no job finished', async () => {
    const { text } = await site.http.get('/job-dashboard/queues');
    const [row = ''] = /<tr[^>]* data-key="search">[^]*?<\/tr>/.exec(text) ?? [];
    expect(row).to.include('spark none').and.include('<path class="done" d=""/>');
  });

  it('show a queue’s limits in the list', async () => {
    const limited = await openSite();
    try {
      const { storage } = limited.story;
      await storage.queues.limit('images', {
        concurrencyLimit: 6,
        rateLimit: { jobs: 90, periodMs: 60_000 },
      });
      const { text } = await limited.http.get('/job-dashboard/queues');
      expect(textOf(text)).to.match(/images .* 6 at once 90 per min/);
    } finally {
      await limited.close();
    }
  });

  it('show who set a queue’s limit, and when, on its page', async () => {
    const limited = await openSite();
    try {
      const { storage } = limited.story;
      const values = { concurrencyLimit: 6, rateLimit: null };
      const entry = { who: 'ada', action: 'queues/limit', target: 'images', filter: { values }, count: 1 };
      await storage.queues.limit('images', values, { audit: () => entry });
      storage.manualClock.advance(300_000);
      const { text } = await limited.http.get('/job-dashboard/queues/images');
      expect(textOf(text)).to.match(/At most 6 jobs at once, across all servers, set by ada 5 min ago ?\./);
    } finally {
      await limited.close();
    }
  });

  it('show a recurring job’s schedule in words, and the state of its last job', async () => {
    const text = await page('/recurring');
    expect(text).to.match(
      /count-stock every 15 min Europe\/Berlin \*\/15 \* \* \* \* \d+ min ago Done \d+ min ago/,
    );
    expect(text).to.include('Monday to Friday at 02:30 America/New_York');
  });

  it('show the state of a batch, and the time so far of an unfinished one', async () => {
    expect(await page('/batches')).to.match(
      /Running March newsletter .* 58 % 12 1 2 min ago (2 min|1 min \d+ s) so far/,
    );
  });

  it('show the time, user, action, target and result of an audit entry', async () => {
    const { storage } = site.story;
    const entry = { who: 'ada', target: 'mail', count: 1 };
    const values = { concurrencyLimit: 4 };
    await storage.audit.record({ ...entry, action: 'queues/limit', filter: { values } });
    await storage.audit.record({
      ...entry,
      action: 'queues/pause',
      filter: { outcome: 'refused', why: 'gone' },
    });
    const text = await page('/audit');
    expect(text).to.match(/Sunday,? 1 March 2026 14:05:00 ada/);
    expect(text).to.include('14:05:00 ada Limited queue mail at once 4 done');
    expect(text).to.include('ada Paused queue mail refused; nothing was changed (gone)');
  });

  it('group actions by day, latest first', async () => {
    const { storage } = site.story;
    const record = () =>
      storage.audit.record({ who: 'ada', target: 'mail', count: 1, action: 'queues/pause', filter: null });
    await record();
    storage.manualClock.advance(10 * 3_600_000);
    await record();
    await record();
    const days = (await page('/audit')).match(/(?<=day,? )\d+ March|\d\d:05:00 ada/g);
    expect(days?.slice(0, 5)).to.deep.equal([
      '2 March',
      '00:05:00 ada',
      '00:05:00 ada',
      '1 March',
      '14:05:00 ada',
    ]);
  });

  it('are replaced by advice if there are none', async () => {
    expect(await page('/jobs?state=failed&queue=stock')).to.include(
      'No jobs match. Search all states · Show all jobs',
    );
    expect(await page('/jobs?queue=none')).to.include('No jobs match. Show all jobs');
  });
});
