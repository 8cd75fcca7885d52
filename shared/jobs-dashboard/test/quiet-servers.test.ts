import type { Server } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { explain } from '../src/diagnosis/explanation.js';
import { queueStatus } from '../src/diagnosis/queues.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { ago, counts, job, nowMs, queue, read, server } from './situation.js';

describe('a quiet server', () => {
  const quiet = server({ state: 'quiet' });

  it('is not counted as a consumer', () => {
    const { text } = queueStatus(queue(), [server(), quiet], nowMs);
    expect(read(text)).to.equal('No job is ready. 1 server takes jobs from this queue.');
  });

  it('leaves a queue without consumers', () => {
    const { text } = queueStatus(queue(), [quiet], nowMs);
    expect(read(text)).to.equal('No job is ready. No server takes jobs from this queue.');
  });

  it('is the reason why later jobs will not start', () => {
    const { badge, text } = queueStatus(queue({ counts: { ...counts, scheduled: 2 } }), [quiet], nowMs);
    expect(badge.word).to.equal('No server takes jobs');
    expect(read(text)).to.include('2 jobs wait for a time or for other jobs, but the only server that takes');
  });

  it('does not hide that the others are silent', () => {
    const waitingQueue = queue({ counts: { ...counts, enqueued: 1 } });
    const { badge } = queueStatus(waitingQueue, [quiet, server({ heartbeatAt: ago(20) })], nowMs);
    expect(badge.word).to.equal('Servers are silent');
  });

  it('is not counted for a job that is about to start or due later', () => {
    const context = { attempts: [], queue: queue(), nowMs };
    const ready = explain(job({}), { ...context, servers: [server(), quiet] });
    expect(read(ready.text)).to.include('1 server takes jobs from queue “q”');
    const later = explain(job({ state: 'scheduled', runAt: ago(-60) }), { ...context, servers: [quiet] });
    expect(read(later.text)).to.include('No running server takes jobs from queue “q”');
  });
});

describe('the pages about a quiet server', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
  });
  afterEach(() => site.close());

  const get = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard${path}`)).text;
  const changeFirst = async (change: Partial<Server>): Promise<Server> => {
    const { storage, serverId } = site.story;
    const servers = (await storage.servers.list()).map((server) =>
      server.id === serverId ? { ...server, ...change } : server,
    );
    storage.servers.list = async () => servers;
    return servers.find(({ id }) => id === serverId) ?? server();
  };
  const slots = (html: string): number => Number(/(?:of )(\d+) slots? in use/.exec(textOf(html))?.[1]);

  it('mark it among the consumers of its queue', async () => {
    const { queues } = await changeFirst({ state: 'quiet' });
    expect(textOf(await get(`/queues/${queues[0]}`))).to.match(/process \d+ Quiet/);
  });

  it('do not count its free slots', async () => {
    const before = slots(await get('/'));
    const { concurrency, processing } = await changeFirst({ state: 'quiet' });
    expect(processing).to.be.below(concurrency);
    expect(slots(await get('/'))).to.equal(before - concurrency + processing);
  });

  it('do not offer to quiet it again', async () => {
    const path = `/servers/${site.story.serverId}`;
    expect(await get(path)).to.include('Stop taking jobs…');
    await changeFirst({ requested: 'quiet' });
    const html = await get(path);
    expect(html).to.include('Shut down…').and.not.include('Stop taking jobs…');
    expect(textOf(html)).to.include('Quiet requested');
    await changeFirst({ requested: 'stop' });
    expect(await get(path)).not.to.include('Shut down…');
  });
});
