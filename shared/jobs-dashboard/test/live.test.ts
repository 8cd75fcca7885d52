import { StorageUnavailableError } from '@longshore/jobs';
import type { BriefJob } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { etagIn, openSite, type Site } from './dashboard-site.js';

describe('a live page', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite();
  });
  afterEach(() => site.close());

  const region = (path: string, name: string, etag = '') =>
    site.http.get(`/job-dashboard${path}`, { headers: { 'longshore-region': name, 'if-none-match': etag } });

  it('has regions with their versions', async () => {
    const { text } = await site.http.get('/job-dashboard/');
    const { status } = await region('/', 'flow', etagIn(text, 'flow'));
    expect(status).to.equal(304);
  });

  it('returns one region as a fragment', async () => {
    const { status, text } = await region('/jobs', 'list');
    expect(status).to.equal(200);
    expect(text).to.include('<table').and.include('data-region="list"').and.not.include('<html');
    expect(text).not.to.include('data-region="tabs"');
  });

  it('returns only the regions that have changed', async () => {
    const page = await site.http.get('/job-dashboard/jobs');
    const [tabs, list] = [etagIn(page.text, 'tabs'), etagIn(page.text, 'list')];
    expect((await region('/jobs', 'tabs, list', `${tabs}, ${list}`)).status).to.equal(304);
    const { status, text } = await region('/jobs', 'tabs, list', tabs);
    expect(status).to.equal(200);
    expect(text).to.include('data-region="list"').and.not.include('data-region="tabs"');
  });

  it('returns a region again after a change, but not because time has passed', async () => {
    const etag = etagIn((await region('/', 'flow')).text);
    site.story.storage.manualClock.advance(1_000);
    expect((await region('/', 'flow', etag)).status).to.equal(304);
    await site.story.storage.add({ name: 'new' });
    expect((await region('/', 'flow', etag)).status).to.equal(200);
  });

  it('does not change because time has passed, on any page', async () => {
    const { story, http } = site;
    await story.storage.queues.pause('mail');
    await story.storage.recordWarnings();
    const paths = ['/', '/jobs', '/queues', '/queues/mail', '/recurring', `/batches/${story.batchId}`];
    const jobs = [story.processingId, story.scheduledId, story.retryingId, story.failedId, story.unservedId];
    for (const path of [...paths, ...jobs.map((id) => `/jobs/${id}`)]) {
      const { text } = await http.get(`/job-dashboard${path}`);
      const regions = [...text.matchAll(/data-region="([^"]+)" data-every="\d+" data-etag="([^"]+)"/g)];
      story.storage.manualClock.advance(1_000);
      for (const [, name = '', etag = ''] of regions) {
        const { status } = await region(path, name, etag.replaceAll('&#34;', '"'));
        expect([path, name, status]).to.deep.equal([path, name, 304]);
      }
    }
  });

  it('shows at once that a server is silent', async () => {
    const { serverId, storage } = site.story;
    const servers = await storage.servers.list();
    storage.servers.list = async () => servers;
    for (const [path, name] of [
      ['/servers', 'servers'],
      [`/servers/${serverId}`, 'server'],
    ] as const) {
      const { headers } = await region(path, name);
      storage.manualClock.advance(20_000);
      const { status, text } = await region(path, name, headers.etag);
      expect([status, /silent/i.test(text)], path).to.deep.equal([200, true]);
      storage.manualClock.advance(-20_000);
    }
  });

  it('shows at once that a recurring job is late', async () => {
    const { nextDueAt } = (await site.story.storage.recurring.find('count-stock')) ?? {};
    site.story.storage.manualClock.advance(
      (nextDueAt?.getTime() ?? 0) - site.story.storage.manualClock.now(),
    );
    const { headers } = await region('/recurring/count-stock', 'schedule');
    site.story.storage.manualClock.advance(61_000);
    const { status, text } = await region('/recurring/count-stock', 'schedule', headers.etag);
    expect([status, text.includes('no server has enqueued it')]).to.deep.equal([200, true]);
  });

  it('rejects unknown regions', async () => {
    expect((await region('/jobs', 'flow')).status).to.equal(400);
  });

  it('returns 404 for a region of a deleted page', async () => {
    expect((await region('/queues/none', 'queue')).status).to.equal(404);
  });
});

describe('the snapshot', () => {
  it('reads the storage once for all viewers within its time', async () => {
    let reads = 0;
    const site = await openSite({
      cacheMs: 1_000,
      read: ({ storage }) =>
        overriding(storage, {
          jobs: {
            stateCounts: () => {
              reads += 1;
              return storage.jobs.stateCounts();
            },
          },
        }),
    });
    try {
      await Promise.all(Array.from({ length: 20 }, () => site.http.get('/job-dashboard/')));
      expect(reads).to.equal(1);
      site.story.storage.manualClock.advance(1_000);
      await site.http.get('/job-dashboard/');
      expect(reads).to.equal(2);
    } finally {
      await site.close();
    }
  });
});

describe('a slow storage', () => {
  it('results in an error page with status 503 if nothing can be shown without it', async () => {
    const site = await openSite({
      readTimeoutMs: 30,
      read: ({ storage }) => overriding(storage, { jobs: { find: () => new Promise(() => {}) } }),
    });
    try {
      const { status, text } = await site.http.get(`/job-dashboard/jobs/${site.story.doneId}`);
      expect([status, text.includes('The storage is too slow')]).to.deep.equal([503, true]);
    } finally {
      await site.close();
    }
  });

  it('results in a page without the late part, and a notice', async () => {
    const never = new Promise<never>(() => {});
    const site = await openSite({
      readTimeoutMs: 30,
      read: ({ storage }) => overriding(storage, { jobs: { listBrief: () => never } }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/jobs');
      expect(status).to.equal(200);
      expect(text).to.include('The storage did not respond in time').and.include('72');
    } finally {
      await site.close();
    }
  });

  it('results in a page with the nearest jobs while the rest is searched, refreshed soon', async () => {
    let resolveJobs: (jobs: BriefJob[]) => void = () => undefined;
    const laterJobs = new Promise<BriefJob[]>((resolve) => (resolveJobs = resolve));
    const site = await openSite({
      read: ({ storage }) =>
        overriding(storage, {
          jobs: {
            listBrief: async (query) => {
              if (query.reach !== 'near') return { jobs: await laterJobs, isComplete: true };
              return { ...(await storage.jobs.listBrief({ ...query, limit: 1 })), isComplete: false };
            },
          },
        }),
    });
    try {
      const path = '/job-dashboard/jobs?state=failed&order=oldest';
      const { text } = await site.http.get(path);
      expect(text).to.include('Still searching').and.include('data-region="list" data-every="500"');
      const failed = { filter: { state: ['failed'] }, limit: 50 } as const;
      resolveJobs((await site.story.storage.jobs.listBrief(failed)).jobs);
      site.story.storage.manualClock.advance(1_000);
      const whole = await site.http.get(path);
      expect(whole.text).not.to.include('Still searching');
      expect(whole.text.match(/<tr/g)).to.have.length.above(text.match(/<tr/g)?.length ?? 0);
    } finally {
      await site.close();
    }
  });

  it('results in tabs without counts while they are counted', async () => {
    const never = new Promise<never>(() => {});
    const site = await openSite({
      read: ({ storage }) => overriding(storage, { jobs: { countByState: () => never } }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/jobs?name=charge-card');
      expect(status).to.equal(200);
      expect(text)
        .to.include('<span class="count">…</span>')
        .and.include('data-region="tabs" data-every="500"');
    } finally {
      await site.close();
    }
  });

  it('results in the nearest jobs and advice if the storage gives up searching', async () => {
    const site = await openSite({
      read: ({ storage }) =>
        overriding(storage, {
          jobs: {
            listBrief: async (query) => {
              if (query.reach !== 'near') throw new StorageUnavailableError('It took too long');
              return { ...(await storage.jobs.listBrief({ ...query, limit: 1 })), isComplete: false };
            },
          },
        }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/jobs?state=failed&order=oldest');
      expect(status).to.equal(200);
      expect(text).to.include('took too long').and.include('after:').and.include('<table');
      expect(text).not.to.include('data-every="500"');
    } finally {
      await site.close();
    }
  });
});
