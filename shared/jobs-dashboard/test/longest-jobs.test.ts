import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { SEED_TIMEOUT_MS, SeededStorage } from './seeded-storage.js';

const HOUR = 3_600_000;

describe('a job that waits or runs for hours, while jobs created before it have become ready just now', () => {
  let storage: SeededStorage;
  let site: Site;
  let longId: string;
  let startAll: () => Promise<void>;

  beforeEach(async () => {
    storage = new SeededStorage(new ManualClock(new Date('2026-03-02T14:00:00Z')));
    const { now } = storage.manualClock;
    site = await openSite({ now, read: () => storage });
    const server = { host: 'worker', pid: 1, queues: ['files'], concurrency: 10, timeoutMs: SEED_TIMEOUT_MS };
    const { id } = await storage.servers.register(server);
    for (let index = 0; index < 5; index += 1)
      await storage.add({ name: 'import', queue: 'files', inMs: 3 * HOUR });
    longId = await storage.add({ name: 'import', queue: 'files' });
    startAll = async () => {
      while ((await storage.jobs.count({ state: ['enqueued'] })).count > 0) await storage.start(id, 'files');
    };
  });
  afterEach(async () => {
    await site.close();
    await storage.close();
  });

  const pass = async (): Promise<void> => {
    storage.manualClock.advance(3 * HOUR);
    await storage.maintenance.promoteDue(10);
  };
  const firstIn = async (path: string, title: string): Promise<string | undefined> => {
    const { text } = await site.http.get(`/job-dashboard${path}`);
    return /data-key="([^"]*)"/.exec(text.split(`${title}</h2>`)[1] ?? '')?.[1];
  };

  for (const path of ['/', '/queues/files', '/types/import'])
    it(`is the longest running one on ${path}`, async () => {
      await startAll();
      await pass();
      await startAll();
      expect(await firstIn(path, 'Longest running')).to.equal(longId);
    });

  for (const path of ['/queues/files', '/types/import'])
    it(`is the longest waiting one on ${path}`, async () => {
      await pass();
      expect(await firstIn(path, 'Longest waiting')).to.equal(longId);
    });

  it('stands for the other waiting jobs with its concurrency key', async () => {
    const meta = { concurrencyKey: 'tenant-7', concurrencyLimit: 1 };
    for (let index = 0; index < 4; index += 1)
      await storage.enqueuer.enqueue([{ ...storage.order({ name: 'export', queue: 'exports' }), meta }]);
    await storage.add({ name: 'other', queue: 'exports' });
    for (const path of ['/queues/exports', '/types/export']) {
      const { text } = await site.http.get(`/job-dashboard${path}`);
      const list = (text.split('Longest waiting</h2>')[1] ?? '').split('</section>')[0] ?? '';
      expect(list.match(/data-key/g), path).to.have.length(path.startsWith('/queues') ? 2 : 1);
      expect(textOf(list)).to.include('3 more with the key tenant-7');
      expect(list).to.include('state=enqueued&amp;queue=exports&amp;key=tenant-7&amp;order=oldest');
    }
  });
});
