import type { Lease } from '@longshore/jobs';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { readerWith } from './reader-with.js';

describe('what the pages tell of what runs no longer', () => {
  const stalled: Lease[] = [];
  let site: Site;
  const page = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard${path}`)).text);
  const leaseEnding = (secondsAgo: number): Lease => ({
    jobId: site.story.processingId,
    queue: 'default',
    serverId: site.story.serverId,
    attempt: 2,
    expiresAt: new Date(site.story.storage.manualClock.now() - secondsAgo * 1_000),
    locked: false,
  });

  before(async () => {
    site = await openSite({
      read: ({ storage }) =>
        readerWith(storage, {
          findLease: async (job) => stalled.find(({ jobId }) => jobId === job.id) ?? storage.findLease(job),
          listStalledLeases: async () => stalled,
        }),
    });
  });
  afterEach(() => stalled.splice(0));
  after(() => site.close());

  it('a running job names the owner of its lease, as a link, and when it runs out', async () => {
    const path = `/jobs/${site.story.processingId}`;
    expect(await page(path)).to.match(
      /Lease owner worker-2, process 4310 .*Lease runs out in 2\d h.* unless renewed/,
    );
    const { text } = await site.http.get(`/job-dashboard${path}`);
    expect(text).to.match(/runs out <time datetime="2026-03-0[^"]+" title="[^"]+ UTC">/);
    const owner = (await site.story.storage.findJob(site.story.processingId))?.serverId;
    expect(text).to.match(new RegExp(`Lease owner</dt><dd><a href="[^"]*servers/${owner}"`));
  });

  it('a job that is done has no lease', async () => {
    expect(await page(`/jobs/${site.story.doneId}`)).not.to.include('Lease');
  });

  it('a job whose lease ran out on a living server says so, first of all', async () => {
    stalled.push(leaseEnding(20));
    expect(await page(`/jobs/${site.story.processingId}`))
      .to.include('stopped renewing the lease, which ran out 20 s ago')
      .and.match(/Lease ran out 20 s ago/)
      .and.not.include('The server is alive');
  });

  it('the overview counts stalled leases and leads to the job', async () => {
    stalled.push(leaseEnding(20));
    const { text } = await site.http.get('/job-dashboard/');
    expect(textOf(text)).to.include('1 job stalled: a server that is alive has stopped renewing its lease');
    expect(text).to.match(new RegExp(`href="[^"]*jobs/${site.story.processingId}">1 job stalled`));
  });
});
