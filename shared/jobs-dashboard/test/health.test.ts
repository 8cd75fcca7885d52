import { StorageUnavailableError } from '@longshore/jobs';
import type { Orphan } from '@longshore/jobs/storage';
import { eventually, overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { ReadTooSlowError } from '../src/cache/deadline.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the health line on every page', () => {
  let site: Site;
  let looks = 0;
  let nowMs = Date.parse('2026-03-01T14:05:00Z');
  let listOrphans: () => Promise<Orphan[]> = async () => [];

  const open = async (): Promise<void> => {
    site = await openSite({
      now: () => nowMs,
      read: ({ storage }) =>
        overriding(storage, {
          queues: { list: async () => [] },
          recurring: {
            find: (id) => storage.recurring.find(id),
            findArgs: (id) => storage.recurring.findArgs(id),
            list: async () => [],
          },
          jobs: {
            listOrphans: () => {
              looks += 1;
              return listOrphans();
            },
          },
          incidents: {
            list: async () => [],
            find: (id) => storage.incidents.find(id),
            reserveCheck: async () => false,
            observe: async () => undefined,
          },
          readClock: async () => new Date(nowMs),
          clock: { now: () => nowMs },
          statistics: {
            throughput: async () => [],
            throughputByQueue: async () => new Map(),
            listErrorGroups: (query) => storage.statistics.listErrorGroups(query),
          },
        }),
    });
  };
  const get = (path: string, headers = {}) => site.http.get(`/job-dashboard${path}`, { headers });
  const healthAt = async (path: string): Promise<string> =>
    textOf(/<a id="health"[^]*?<\/a>/.exec((await get(path)).text)?.[0] ?? '').trim();

  const untilHealthAt = (path: string, expected: string): Promise<string> =>
    eventually(
      () => healthAt(path),
      (health) => health === expected,
    );

  beforeEach(() => {
    looks = 0;
    listOrphans = async () => [];
    return open();
  });
  afterEach(() => site.close());

  it('is shown from the second page on, with a link to the overview', async () => {
    expect(await healthAt('/help')).to.equal('');
    await untilHealthAt('/help', 'All is well');
    expect((await get('/jobs')).text).to.match(/<a id="health" class="state tone-done" href="\.\/">/);
  });

  it('counts the warnings of the overview', async () => {
    listOrphans = async () => [
      { queue: 'q', name: 'typo', jobs: 2, reason: 'no-handler' },
      { queue: 'q', name: 'other', jobs: 2, reason: 'no-handler' },
    ];
    await untilHealthAt('/queues', '2 warnings');
    expect((await get('/servers')).text).to.match(/<a id="health" class="state tone-failed"/);
  });

  it('comes with the refreshes of a page, changed or not', async () => {
    await untilHealthAt('/help', 'All is well');
    const { headers } = await get('/servers', { 'longshore-region': 'servers' });
    expect(headers['longshore-health']).to.equal('calm All is well');
  });

  it('is read once in ten seconds, however many viewers there are', async () => {
    for (let times = 0; times < 20; times += 1) await get('/servers', { 'longshore-region': 'servers' });
    expect(looks).to.equal(1);
    nowMs += 10_000;
    await get('/servers', { 'longshore-region': 'servers' });
    expect(looks).to.equal(2);
  });

  it('delays no page', async () => {
    listOrphans = () => new Promise(() => undefined);
    expect((await get('/help')).status).to.equal(200);
    expect(await healthAt('/help')).to.equal('');
  });

  it('shows that the storage does not respond', async () => {
    listOrphans = async () => Promise.reject(new StorageUnavailableError('gone'));
    await untilHealthAt('/help', 'The storage does not respond');
  });

  it('says that the check took too long, instead of blaming the storage', async () => {
    listOrphans = async () => Promise.reject(new ReadTooSlowError('late'));
    await untilHealthAt('/help', 'The check of the warnings took too long');
  });

  it('is hidden a minute after it was read', async () => {
    await untilHealthAt('/help', 'All is well');
    nowMs += 61_000;
    expect(await healthAt('/help')).to.equal('');
  });
});
