import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { SEED_TIMEOUT_MS } from './seeded-storage.js';

const error = { name: 'HttpError', message: '402 card declined\nat the bank', stack: null };

describe('a skipped job', () => {
  let site: Site;
  let rootId: string;
  let packId: string;
  let shipId: string;
  let lateId: string;

  before(async () => {
    site = await openSite();
    const { storage } = site.story;
    rootId = await storage.add({ name: 'take-payment', queue: 'chain' });
    packId = await storage.add({ name: 'pack-order', queue: 'chain', after: rootId });
    shipId = await storage.add({ name: 'ship-order', queue: 'chain', after: packId });
    lateId = await storage.add({ name: 'thank-customer', queue: 'chain', after: shipId });
    const { id: serverId } = await storage.servers.register({
      host: 'worker-6',
      pid: 66,
      queues: ['chain'],
      concurrency: 1,
      timeoutMs: SEED_TIMEOUT_MS,
    });
    await storage.end(await storage.start(serverId, 'chain'), { kind: 'failed', error });
    for (let depth = 0; depth < 4; depth++) await storage.maintenance.resolveDependencies();
  });
  after(() => site.close());

  const page = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard/${path}`)).text;

  it('names the job that failed and its error', async () => {
    expect(textOf(await page(`jobs/${packId}`))).to.include(
      'Skipped because take-payment failed: HttpError: 402 card declined. View the cause',
    );
  });

  it('names the root of its chain, and leads to it', async () => {
    const html = await page(`jobs/${lateId}`);
    expect(textOf(html)).to.include(
      'Skipped because take-payment failed: HttpError: 402 card declined (2 skipped jobs in between).',
    );
    expect(html).to.include(`jobs/${rootId}">View the cause`);
  });

  it('says in lists what has failed', async () => {
    expect(textOf(await page('jobs?state=cancelled&queue=chain'))).to.match(
      /ship-order .*Skipped because take-payment failed: HttpError: 402 card declined \(1 skipped job in between\)/,
    );
  });

  it('says that its cause has been removed', async () => {
    await site.story.storage.control.delete(rootId);
    expect(textOf(await page(`jobs/${shipId}`))).to.include(
      'Skipped because a removed job or batch failed (1 skipped job in between).',
    );
  });
});
