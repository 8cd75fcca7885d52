import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, type SiteOptions, textOf } from './dashboard-site.js';
import { seedBlockedKey } from './story-keys.js';

/** A storage with more keys than it describes. */
const undescribed: SiteOptions['read'] = ({ storage }) =>
  overriding(storage, {
    queues: {
      find: (name) => storage.queues.find(name),
      list: () => storage.queues.list(),
      listBlockingKeys: async (name) => {
        const { keys, isComplete } = await storage.queues.listBlockingKeys(name);
        return { keys: keys.map((key) => ({ ...key, details: null })), isComplete };
      },
    },
  });

describe('the page of a job that a concurrency key blocks', () => {
  let site: Site | undefined;
  afterEach(() => site?.close());

  /** Seeds two jobs, of which one holds the key and blocks the other. */
  const seed = async (
    options: SiteOptions,
  ): Promise<{ holderId: string; blockedPage: () => Promise<string> }> => {
    const opened = await openSite(options);
    site = opened;
    await seedBlockedKey(opened.story.storage);
    const jobs = await opened.story.storage.jobs.list({ filter: { queue: ['keyed'] }, limit: 2 });
    const holder = jobs.find(({ readyAt }) => readyAt !== null);
    const blocked = jobs.find(({ readyAt }) => readyAt === null);
    if (holder === undefined || blocked === undefined) throw new Error('One job must be blocked');
    const blockedPage = async () => (await opened.http.get(`/job-dashboard/jobs/${blocked.id}`)).text;
    return { holderId: holder.id, blockedPage };
  };
  const start = async () => {
    if (site === undefined) throw new Error('The site is closed');
    return site.story.storage.start(site.story.serverId, 'keyed');
  };
  const link = (id: string): string => `href="../jobs/${id}">View export …${id.slice(-4)}</a>`;

  for (const how of ['ready', 'running'])
    it(`links to the job that holds the key while that is ${how}`, async () => {
      const { holderId, blockedPage } = await seed({});
      const word = how === 'running' ? 'started' : how;
      if (how === 'running') await start();
      const html = await blockedPage();
      expect(textOf(html)).to.match(new RegExp(`held by export …${holderId.slice(-4)} \\(${word}`));
      expect(html).to.include(link(holderId));
    });

  it('links to the running job that holds the key also if the storage does not describe the key', async () => {
    const { holderId, blockedPage } = await seed({ read: undescribed });
    await start();
    expect(await blockedPage()).to.include(link(holderId));
  });

  it('links to no job that has ended', async () => {
    const { holderId, blockedPage } = await seed({});
    const claimed = await start();
    await site?.story.storage.end(claimed, { kind: 'done', result: 'null' });
    const html = await blockedPage();
    expect(textOf(html)).not.to.include('It is blocked');
    expect(html).not.to.include(link(holderId));
  });
});
