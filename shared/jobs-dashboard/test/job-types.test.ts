import type { Timings } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import type { PageContext, PageRequest } from '../src/shell/page.js';
import { typePage } from '../src/pages/type.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the pages of job types', () => {
  let site: Site;
  const page = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard${path}`)).text);

  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('list the types that ran, with their failures and percentiles', async () => {
    expect(await page('/types?since=24h')).to.match(
      /charge-card .* 1 1 100 % of attempts .*send-invoice .* 1 0 75 % of attempts /,
    );
  });

  it('list the types by how much they differ from their baselines, as the warnings do', async () => {
    const failing = await openSite();
    try {
      const { storage, serverId } = failing.story;
      for (let n = 0; n < 30; n++) {
        await storage.add({ name: 'zip-files', queue: 'files', maxAttempts: 1 });
        const error = { name: 'HttpError', message: 'upstream said 503', stack: null };
        await storage.end(await storage.start(serverId, 'files'), { kind: 'failed', error });
      }
      const text = textOf((await failing.http.get('/job-dashboard/types?since=24h')).text);
      expect(text).to.match(
        /Change Finished .* zip-files .*100 % of attempts fail 30 .* send-newsletter .*– /,
      );
      const byNumber = textOf((await failing.http.get('/job-dashboard/types?since=24h&sort=running')).text);
      expect(byNumber).to.match(/send-invoice .* zip-files /);
    } finally {
      await failing.close();
    }
  });

  it('draw the outcomes of the attempts of each type in the last hour', async () => {
    const { text } = await site.http.get('/job-dashboard/types');
    expect(text).to.match(/send-newsletter[^]*?<title>6 done, 1 failed<\/title>/);
  });

  it('show the outcomes of the jobs of a type, their errors and their durations', async () => {
    const text = await page('/types/charge-card?range=24h');
    expect(text).to.include('1 failed (100 %)').and.include('CardDeclinedError').and.include('Running');
  });

  it('show that a type is paused wherever its ready jobs appear', async () => {
    await site.story.storage.jobTypes.pause('sync-inventory');
    const { enqueuedId } = site.story;
    expect(await page('/types/sync-inventory')).to.include('Paused');
    expect(await page('/queues/images')).to.include('their type is paused: sync-inventory');
    expect(await page('/jobs?name=sync-inventory')).to.include('Type paused');
    expect(await page(`/jobs/${enqueuedId}`)).to.include('job type “sync-inventory” was paused');
    await site.story.storage.jobTypes.resume('sync-inventory');
  });

  it('show no number of ready jobs if it has not been measured for three minutes', async () => {
    const { storage } = site.story;
    const { now } = storage.manualClock;
    const readyAt = async (measuredMs: number): Promise<unknown> => {
      const read: Timings['read'] = async (query) =>
        (await storage.timings.read(query)).map((bucket) => ({
          ...bucket,
          backlog: bucket.at.getTime() <= measuredMs ? 7 : null,
        }));
      const reader = overriding(storage, { timings: { read } });
      const request: PageRequest = {
        params: { type: 'send-invoice' },
        query: new URLSearchParams(),
        viewer: { name: 'ann', role: 'viewer' },
      };
      const { regions } = await typePage(request, { reader, now } as unknown as PageContext);
      const state = (await regions[0]?.load()) as { backlog: number | null } | undefined;
      return state?.backlog;
    };
    expect(await readyAt(now() - 60_000)).to.equal(7);
    expect(await readyAt(now() - 4 * 60_000)).to.equal(null);
  });

  it('mark deployments on the charts', async () => {
    const at = new Date(site.story.storage.manualClock.now() - 60_000);
    await site.story.storage.deployments.record({ version: '2.4.1', at });
    expect(await page('/?range=15m')).to.include('version 2.4.1 was deployed');
  });
});

describe('a breakdown of jobs', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('counts the values of a property, most frequent first, with links to their jobs', async () => {
    const { text } = await site.http.get('/job-dashboard/jobs?state=done&by=queue');
    expect(textOf(text)).to.match(/Queue Jobs images 60 newsletter 6 .*All \d+ matching jobs counted/);
    expect(text).to.include('jobs?state=done&amp;queue=images"');
  });

  it('counts the values at a path in the arguments', async () => {
    const { text } = await site.http.get('/job-dashboard/jobs?queue=images&by=args.width');
    expect(textOf(text)).to.match(/args\.width Jobs 320 60 1280 9 /);
  });

  it('does not count redacted values', async () => {
    const { text } = await site.http.get('/job-dashboard/jobs?by=args.cardToken');
    expect(text).not.to.include('tok_visa');
    expect(text).not.to.include('data-region="breakdown"');
  });
});
