import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { SeededStorage } from './seeded-storage.js';

describe('a store that has never seen a job or a server', () => {
  let storage: SeededStorage;
  let site: Site;
  beforeEach(async () => {
    storage = new SeededStorage(new ManualClock(new Date('2026-03-02T08:00:00Z')));
    site = await openSite({ read: () => storage, now: storage.manualClock.now });
  });
  afterEach(async () => {
    await site.close();
    await storage.close();
  });
  const overview = async (): Promise<string> => (await site.http.get('/job-dashboard/')).text;
  const startServer = () =>
    storage.servers.register({
      host: 'worker-1',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 60_000,
    });

  it('has an overview that explains calmly how to start', async () => {
    const html = await overview();
    expect(textOf(html)).to.match(/Nothing has run yet Start a server .* a first job/);
    expect(html).to.include('class="summary calm"').and.not.include('attention');
    const [, help = ''] = /href="\.\/(help)#first-job"/.exec(html) ?? [];
    const { text } = await site.http.get(`/job-dashboard/${help}`);
    expect(text).to.include('id="first-job"');
  });

  it('has no empty charts or lists', async () => {
    const html = await overview();
    expect(html).not.to.include('<figure').and.not.include('Latest failures').and.not.include('id="queues"');
    expect(html).to.match(/data-region="throughput"[^>]*><\/div>/);
  });

  it('causes a warning once a job waits and no server runs', async () => {
    await storage.add({ name: 'first' });
    const html = await overview();
    expect(textOf(html)).to.include('No server is running.').and.not.include('Nothing has run yet');
    expect(html).to.include('class="summary attention"').and.include('<figure');
  });

  it('stops being new with its first server, also once that is gone', async () => {
    const server = await startServer();
    expect(textOf(await overview()))
      .to.include('Idle')
      .and.include('1 Server');
    await server.unregister();
    expect(textOf(await overview())).to.include('No server is running.');
  });
});
