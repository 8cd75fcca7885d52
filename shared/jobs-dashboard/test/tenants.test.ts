import type { NewJob } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the Tenants page', () => {
  let site: Site;
  afterEach(() => site.close());

  const open = async (tenant: string | undefined): Promise<void> => {
    site = await openSite({ tenant });
  };

  /** Enqueues jobs of a tenant. Returns their ids. */
  const enqueue = async (name: string, jobs: number, more: Partial<NewJob> = {}): Promise<string[]> => {
    const { storage } = site.story;
    const orders = Array.from({ length: jobs }, () => ({
      ...storage.order({ name: 'report' }),
      args: JSON.stringify({ shop: { id: name }, apiKey: name }),
      meta: { tags: [`customer-${name}`, 'other'], concurrencyKey: name, concurrencyLimit: 2 },
      ...more,
    }));
    await storage.enqueuer.enqueue(orders);
    return orders.map(({ id }) => id);
  };

  /** Ends all ready jobs of a queue; one of them fails. */
  const end = async (queue: string): Promise<void> => {
    const { storage } = site.story;
    const server = { host: 'x', pid: 1, queues: [queue], concurrency: 2_000, timeoutMs: 3_600_000 };
    const { id: serverId } = await storage.servers.register(server);
    for (let ended = 0; ;) {
      const claimed = await storage.claims.claim({ serverId, queue, limit: 500, leaseMs: 3_600_000 });
      if (claimed.length === 0) return;
      const error = { name: 'E', message: 'x', stack: null };
      await storage.completions.complete(
        claimed.map(({ claim }) => ({
          claim,
          outcome: ended++ === 0 ? { kind: 'failed', error } : { kind: 'done', result: 'null' },
        })),
      );
    }
  };

  const page = async (sort = 'finished'): Promise<string> =>
    (await site.http.get(`/job-dashboard/tenants?sort=${sort}`)).text;

  const rowOf = (html: string, name: string): string =>
    new RegExp(`<tr role="row" data-key="${name}">[^]*?</tr>`).exec(html)?.[0] ?? '';

  /** Returns each figure of a row with a link, and how many jobs the linked list says that it has. */
  const linked = async (row: string): Promise<[figure: number, listed: number][]> => {
    const found: [number, number][] = [];
    for (const [, href = '', figure = ''] of row.matchAll(/<td[^>]*>[^]*?<a href="([^"]+)"[^>]*>([\d,]+)/g)) {
      const { text } = await site.http.get(
        `/job-dashboard/${href.replace(/^\.\//, '').replaceAll('&amp;', '&')}`,
      );
      const [, listed = ''] = /([\d,]+) jobs? match/.exec(textOf(text)) ?? [];
      found.push([Number(figure.replaceAll(',', '')), Number(listed.replaceAll(',', ''))]);
    }
    return found;
  };

  for (const [tenant, name] of [
    ['tag:customer-', 'customer-acme'],
    ['key', 'acme'],
    ['args.shop.id', 'acme'],
  ] as const)
    it(`by ${tenant} has figures that agree with the lists that they link to`, async () => {
      await open(tenant);
      const keyless = { queue: 'tenants', meta: { tags: ['customer-acme'] } };
      await enqueue('acme', 5, tenant === 'key' ? { queue: 'tenants' } : keyless);
      await end('tenants');
      await enqueue('acme', 3, { due: { inMs: 60_000 } });
      await enqueue('acme', 2, { queue: 'idle' });
      const row = rowOf(await page(), name);
      expect(textOf(row).replaceAll(/\s+/g, ' ')).to.match(/acme 5 4 done 1 20 2 0 0 3 0/);
      const figures = await linked(row);
      expect(figures.map(([figure]) => figure)).to.have.members([4, 1, 2, 3]);
      for (const [figure, listed] of figures) expect(listed).to.equal(figure);
    });

  it('examines the newest 1,000 jobs of a state, and links to exactly those that it counted', async () => {
    await open('tag');
    const more = { queue: 'tenants', meta: { tags: ['big'] } };
    await enqueue('big', 600, more);
    site.story.storage.manualClock.advance(1_000);
    await enqueue('big', 600, more);
    const html = await page('enqueued');
    const [[figure, listed] = [0, 0]] = await linked(rowOf(html, 'big'));
    expect(figure).to.be.within(600, 1_000);
    expect(listed).to.equal(figure);
    expect(textOf(html)).to.contain('Jobs that are enqueued: those created since');
  });

  it('says that there are more of more than 1,000 jobs that were enqueued together', async () => {
    await open('tag');
    await enqueue('big', 1_200, { queue: 'tenants', meta: { tags: ['big'] } });
    expect(textOf(rowOf(await page('enqueued'), 'big'))).to.match(/1,00\d\+/);
  });

  it('is sorted by the column that was chosen, and says how many tenants it leaves out', async () => {
    await open('tag');
    for (let index = 0; index < 60; index++)
      await enqueue('', index < 57 ? 1 : index, { queue: 'idle', meta: { tags: [`t${index}`] } });
    const html = await page('enqueued');
    const names = Array.from(html.matchAll(/data-key="(t\d+)"/g), ([, name]) => name);
    expect(names.slice(0, 3)).to.deep.equal(['t59', 't58', 't57']);
    expect(textOf(html)).to.match(/\d+ further tenants with lower figures not shown/);
  });

  it('shows the limits of keys', async () => {
    await open('key');
    await enqueue('acme', 1);
    expect(textOf(rowOf(await page(), 'acme'))).to.match(/ 2\s*$/);
  });

  it('exists only if it is configured, and never by what is redacted', async () => {
    await open(undefined);
    expect((await site.http.get('/job-dashboard/tenants')).status).to.equal(404);
    expect((await site.http.get('/job-dashboard/')).text).not.to.contain('tenants');
    for (const tenant of ['args.apiKey', 'customer', 'args.'])
      expect(await openSite({ tenant }).catch(String), tenant).to.match(/^TypeError: tenant must be/);
  });
});
