import type { Lease, LostServer } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('dead servers and expired leases', () => {
  const stalled: Lease[] = [];
  const lost: LostServer[] = [];
  let clockAheadMs = 0;
  /** How far the storage's clock is ahead of the dashboard's clock, in milliseconds. */
  let storageMs = 0;
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
        overriding(storage, {
          leases: {
            find: async (job) => stalled.find(({ jobId }) => jobId === job.id) ?? storage.leases.find(job),
            listStalled: async () => stalled,
          },
          readClock: async () => new Date(storage.manualClock.now() + storageMs),
          clock: { now: () => storage.manualClock.now() + storageMs },
          servers: {
            listLost: async () => lost,
            list: async () =>
              (await storage.servers.list()).map((server) => ({
                ...server,
                clockAheadMs,
                heartbeatAt: new Date(server.heartbeatAt.getTime() + storageMs),
              })),
          },
        }),
    });
  });
  afterEach(() => {
    stalled.splice(0);
    lost.splice(0);
    clockAheadMs = 0;
    storageMs = 0;
  });
  after(() => site.close());

  it('a running job shows its lease’s owner, as a link, and its expiry', async () => {
    const path = `/jobs/${site.story.processingId}`;
    expect(await page(path)).to.match(
      /Lease owner worker-2, process 4310 .*Lease expires in 2\d s.* unless renewed/,
    );
    const { text } = await site.http.get(`/job-dashboard${path}`);
    expect(text).to.match(/expires <time datetime="2026-03-0[^"]+" title="[^"]+ UTC">/);
    const owner = (await site.story.storage.jobs.find(site.story.processingId))?.serverId;
    expect(text).to.match(new RegExp(`Lease owner</dt><dd><a href="[^"]*servers/${owner}"`));
  });

  it('a done job has no lease', async () => {
    expect(await page(`/jobs/${site.story.doneId}`)).not.to.include('Lease');
  });

  it('a job whose lease expired on a living server shows that first', async () => {
    stalled.push(leaseEnding(20));
    expect(await page(`/jobs/${site.story.processingId}`))
      .to.include('stopped renewing the lease, which expired 20 s ago')
      .and.match(/Lease expired 20 s ago/)
      .and.not.include('The server is alive');
  });

  it('the server pages show whether its clock is in sync', async () => {
    clockAheadMs = -61_000;
    expect(await page('/servers')).to.include('Its clock is 1 min 1 s behind the storage’s clock');
    expect(await page(`/servers/${site.story.serverId}`)).to.include(
      'Clock 1 min 1 s behind the storage’s clock',
    );
    clockAheadMs = 3;
    expect(await page('/servers')).not.to.include('Its clock');
    expect(await page(`/servers/${site.story.serverId}`)).to.include('Clock in sync');
  });

  it('a dashboard whose own clock is wrong shows that, and calls no server silent for it', async () => {
    storageMs = -40_000;
    const overview = await page('/');
    expect(overview).to.include('The clock of this dashboard is 40 s ahead of the storage’s clock');
    expect(overview).not.to.include('last heartbeat');
    expect(await page('/servers')).not.to.include('Silent');
  });

  it('dead servers are shown on the servers page and the overview', async () => {
    const { manualClock } = site.story.storage;
    const at = (secondsAgo: number): Date => new Date(manualClock.now() - secondsAgo * 1_000);
    const gone = {
      id: site.story.doneId,
      host: 'worker-9',
      pid: 99,
      processing: 2,
      heartbeatAt: at(95),
      lostAt: at(62),
    };
    lost.push(gone);
    expect(await page('/servers')).to.match(
      /worker-9, process 99 \w+ last sent a heartbeat 1 min ago and was declared dead 1 min ago . 2 jobs that it was running were reclaimed/,
    );
    expect(await page('/')).to.match(
      /Server worker-9, process 99, was declared dead .*: last heartbeat 1 min ago/,
    );
  });

  it('the overview counts stalled leases and links to the job', async () => {
    stalled.push(leaseEnding(20));
    const { text } = await site.http.get('/job-dashboard/');
    expect(textOf(text)).to.include('1 job stalled: a server that is alive has stopped renewing its lease');
    expect(text).to.match(new RegExp(`href="[^"]*jobs/${site.story.processingId}">1 job stalled`));
  });
});
