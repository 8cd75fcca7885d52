import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { stallOf } from '../src/diagnosis/stall.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { ago, nowMs, queue, read, server } from './situation.js';

describe('a stalled overview', () => {
  const ready = (name: string) => ({ queue: name, name: 'mail', state: 'enqueued' as const });
  const later = (name: string) => ({ queue: name, name: 'mail', state: 'scheduled' as const });
  const paused = queue({ name: 'paused', pausedAt: ago(120) });
  const system = {
    queues: [queue(), queue({ name: 'orphans' }), paused],
    servers: [server()],
    pausedTypes: [],
    nowMs,
  };

  it('gives the reason of the only queue', () => {
    const { badge, text } = stallOf([ready('orphans'), later('orphans')], system, 'batch') ?? {};
    expect(badge?.word).to.equal('No server');
    expect(read(text ?? [])).to.equal(
      'None of its jobs runs: 2 wait, but no running server takes jobs from queue “orphans”. Start one that does.',
    );
  });

  it('gives the reasons of several queues, the one with most jobs first', () => {
    const jobs = [ready('orphans'), ready('paused'), ready('paused')];
    expect(read(stallOf(jobs, system, 'batch')?.text ?? [])).to.match(
      /runs: 2 wait, but queue “paused” was paused 2 min ago\..* 1 waits, but no running server takes/,
    );
  });

  it('shows that there are more queues than were examined', () => {
    expect(read(stallOf([ready('orphans')], system, 'batch', true)?.text ?? [])).to.include(
      '1 or more wait, but',
    );
  });

  it('is not reported if a job can start', () => {
    expect(stallOf([ready('orphans'), ready('q')], system, 'batch')).to.equal(null);
  });

  it('is not reported if all slots are busy', () => {
    const busy = { ...system, servers: [server({ processing: 2 })] };
    expect(stallOf([ready('q')], busy, 'batch')).to.equal(null);
  });

  it('is not reported if jobs of a stuck queue are due later', () => {
    const stuck = { ...system, queues: [queue({ oldestEnqueuedAt: ago(60) })] };
    expect(stallOf([later('q')], stuck, 'batch')).to.equal(null);
    expect(stallOf([ready('q')], stuck, 'batch')?.badge.word).to.equal('Stuck');
  });

  it('is not reported if no job is left to run', () => {
    expect(stallOf([], system, 'batch')).to.equal(null);
  });
});

describe('a stalled batch', () => {
  let site: Site;
  let id: string;
  let callbackId: string;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    const { storage } = site.story;
    id = newId(storage.manualClock.now());
    const jobs = Array.from({ length: 5 }, () => ({
      ...storage.order({ name: 'resize', queue: 'orphans' }),
      meta: { batchId: id },
    }));
    const publish = storage.order({ name: 'publish', queue: 'mail' });
    callbackId = publish.id;
    const callback = {
      ...publish,
      meta: { parentIds: [id] },
      after: { parents: [id], when: 'onDone' as const },
    };
    await storage.enqueuer.enqueueBatch({ id, name: 'album 7', jobs, callback });
  });
  afterEach(() => site.close());

  const text = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard${path}`)).text);
  const why =
    'None of its jobs runs: 5 wait, but no running server takes jobs from queue “orphans”. Start one that does.';

  it('shows the reason of its queue', async () => {
    const page = await text(`/batches/${id}`);
    expect(page)
      .to.include(why)
      .and.match(/No server 0|No server/);
    expect(await text('/queues/orphans')).to.include(
      'but no running server takes jobs from queue “orphans”. Start one',
    );
  });

  it('passes the reason on to the job that waits for it', async () => {
    const page = await text(`/jobs/${callbackId}`);
    expect(page).to.include(`It waits for batch “album 7”, which is running. ${why}`);
  });

  it('shows that its queue is paused', async () => {
    await site.story.storage.queues.pause('orphans');
    expect(await text(`/batches/${id}`)).to.include('5 wait, but queue “orphans” was paused');
  });

  it('is not stalled while one of its jobs runs', async () => {
    const { storage, serverId } = site.story;
    await storage.start(serverId, 'orphans');
    expect(await text(`/batches/${id}`)).not.to.include('None of its jobs runs');
  });

  it('is also the reason why a dependent of one of its jobs does not start', async () => {
    const { storage } = site.story;
    const parent = await storage.add({ name: 'first', queue: 'orphans' });
    const child = await storage.add({ name: 'second', queue: 'mail', after: parent });
    expect(await text(`/jobs/${child}`)).to.include(
      'which is enqueued. That job waits, but no running server takes jobs from queue “orphans”.',
    );
  });
});
