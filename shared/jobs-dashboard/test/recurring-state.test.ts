import { defineJob, defineRecurringJob } from '@longshore/jobs';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the page of a recurring job', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  const page = async (id: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard/recurring/${id}`)).text);
  const overview = async (): Promise<string> => textOf((await site.http.get('/job-dashboard/')).text);
  const add = async (id: string, queue: string): Promise<void> => {
    const definition = defineJob({ name: id, queue });
    await site.story.storage.recurring.addOrUpdate(
      defineRecurringJob({ id, definition, args: {}, cron: '30 14 * * *' }),
    );
  };

  it('calls it late at the same time as the overview', async () => {
    await add('tidy-up', 'default');
    const { manualClock } = site.story.storage;
    manualClock.advance(25 * 60_000 + 30_000);
    expect(await page('tidy-up')).to.include(
      'The next job was due 30 s ago and will be enqueued in a moment.',
    );
    expect(await overview()).not.to.include('“tidy-up” is late');
    manualClock.advance(31_000);
    expect(await page('tidy-up')).to.include('no server has enqueued it');
    expect(await overview()).to.match(/“tidy-up” is late|recurring jobs are late/);
  });

  it('says which of its next times the clock change moves', async () => {
    const { storage } = site.story;
    const definition = defineJob({ name: 'nightly' });
    const schedule = { cron: '30 2 29,30 3 *', timeZone: 'Europe/Berlin' };
    await storage.recurring.addOrUpdate(
      defineRecurringJob({ id: 'nightly', definition, args: {}, ...schedule }),
    );
    const text = await page('nightly');
    expect(text).to.match(
      /29 Mar,? 2026,? 03:00 \S+ moved by the clock change|29 Mar,? 03:00 \S+ moved by the clock change/,
    );
    expect(text.match(/moved by the clock change/g)).to.have.length(1);
  });

  it('says why its last job does not run', async () => {
    await add('backup', 'nowhere');
    await site.story.storage.recurring.trigger('backup');
    const { storage } = site.story;
    storage.manualClock.advance(24 * 3_600_000);
    await storage.recurring.fireDue(100);
    expect(await page('backup')).to.include(
      'That job waits, but no running server takes jobs from queue “nowhere”. Start one that does.',
    );
  });
});
