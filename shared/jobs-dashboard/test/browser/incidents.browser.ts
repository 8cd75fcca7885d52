import { defineJob, defineRecurringJob } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '@longshore/test-support/chromium';
import { failing, follow, Incident, textOn } from './incident.js';

describe('an operator who knows nothing else finds out', () => {
  let browser: Browser;
  let page: Page;
  let incident: Incident;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    incident = new Incident();
    page = await browser.newPage();
  });
  afterEach(async () => {
    await page.close();
    await incident.close();
  });

  it('which worker was killed, and what became of its jobs', async () => {
    const { storage } = incident;
    await incident.startServer(['mail']);
    const killed = await storage.servers.register({
      host: 'worker-7',
      pid: 812,
      queues: ['mail'],
      concurrency: 4,
      timeoutMs: 30_000,
    });
    const id = await storage.add({ name: 'send-invoice', queue: 'mail' });
    await storage.start(killed.id, 'mail');
    killed.report(1);
    incident.pass(1);
    await storage.maintenance.rescue();
    await incident.open(page);
    expect(await textOn(page)).to.match(/Server worker-7, process 812, was declared dead .+: last heartbeat/);
    expect(await textOn(page)).to.include('1 job that it was running was reclaimed');
    await incident.open(page, `jobs/${id}`);
    expect(await textOn(page)).to.match(/Attempt 1 Lost/);
  });

  it('which job type a deployment broke, with which error', async () => {
    const serverId = await incident.startServer(['payments', 'mail'], { version: '2.3.9' });
    for (let index = 0; index < 12; index += 1)
      await incident.run(serverId, { name: 'charge-card', queue: 'payments' });
    incident.pass(30);
    await incident.startServer(['payments'], { host: 'worker-2', version: '2.4.0' });
    for (let index = 0; index < 40; index += 1)
      await incident.run(serverId, { name: 'send-mail', queue: 'mail' });
    for (let index = 0; index < 9; index += 1)
      await incident.run(
        serverId,
        { name: 'charge-card', queue: 'payments' },
        failing('TypeError', 'amount is undefined'),
      );
    await incident.open(page);
    expect(await textOn(page)).to.match(
      /Job type “charge-card” has been failing since .+: 9 attempts failed, \d+ % of the latest \d+\. 9 jobs that failed in the last 10 minutes have not succeeded since: all of these had errors like TypeError: amount is undefined\./,
    );
    await incident.open(page, 'queues/payments');
    expect(await textOn(page)).to.include('Job type “charge-card” has been failing');
    await incident.open(page, 'types/charge-card');
    expect(await textOn(page)).to.match(/Dashed lines: .*version 2\.4\.0 was deployed/);
    await incident.open(page);
    await follow(page, /Job type “charge-card” has been failing/);
    expect(await textOn(page)).to.match(/9 jobs match, latest failure first/);
  });

  it('what happened to a customer’s order', async () => {
    const serverId = await incident.startServer(['orders']);
    for (let order = 4_700; order < 4_720; order += 1)
      await incident.run(
        serverId,
        { name: 'ship-order', queue: 'orders', args: { orderId: order } },
        order === 4_711 ? failing('CarrierError', 'no such address') : undefined,
      );
    await incident.open(page);
    await page.getByRole('searchbox', { name: 'Find jobs' }).fill('4711');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/jobs?words=4711');
    await follow(page, 'ship-order');
    expect(await textOn(page)).to.match(/Failed CarrierError no such address/);
    expect(await textOn(page)).to.include('It is not retried automatically');
  });

  it('which tenant’s jobs flood a queue, and what blocks them', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['exports']);
    const jobs = Array.from({ length: 300 }, () => ({
      ...storage.order({ name: 'export', queue: 'exports' }),
      id: newId(incident.clock.now()),
      meta: { concurrencyKey: 'tenant-7', concurrencyLimit: 2 },
    }));
    await storage.enqueuer.enqueue(jobs);
    const running = [await storage.start(serverId, 'exports'), await storage.start(serverId, 'exports')];
    incident.pass(7);
    await incident.open(page);
    expect(await textOn(page)).to.include(
      '298 jobs of queue “exports” are blocked by concurrency key “tenant-7”, which allows 2 at once, held by export',
    );
    await incident.open(page, 'queues/exports');
    const text = await textOn(page);
    expect(text).to.match(/Blocked by keys 298 jobs are blocked by concurrency key “tenant-7”/);
    expect(text).to.match(/Ready 0 298 blocked/i);
    const holder = page.getByRole('link', { name: `export …${running[0]?.claim.jobId.slice(-4)}` });
    expect(await holder.count()).to.be.greaterThan(0);
    await follow(page, 'tenant-7');
    expect(await textOn(page)).to.match(/300 jobs match|298 jobs match/);
    await page.getByText('Break down…').click();
    await follow(page, 'Key');
    expect(await page.getByRole('region', { name: 'Breakdown by Key' }).innerText()).to.include('tenant-7');
  });

  it('why a recurring job did not run', async () => {
    const { storage } = incident;
    const backup = defineJob({ name: 'back-up', queue: 'nightly' });
    const options = { definition: backup, args: {}, cron: '0 3 * * *', misfire: 'skip' as const };
    await storage.recurring.addOrUpdate(defineRecurringJob({ id: 'nightly-backup', ...options }));
    incident.pass(240);
    await incident.startServer(['nightly']);
    await storage.recurring.fireDue(10);
    await incident.open(page);
    await follow(
      page,
      /Recurring job “nightly-backup” missed the run that was due .+: no server was running/,
    );
    expect(await page.getByRole('region', { name: 'Missed runs' }).innerText()).to.match(
      /1 Mar 2026, 03:00.+no server was running/s,
    );
    expect(await textOn(page)).to.include('Run it now if the work is still needed');
    await incident.open(page, 'recurring');
    expect(await textOn(page)).to.match(/missed .+: no server was running/);
  });

  it('whether jobs wait or run longer than yesterday, and of which type', async () => {
    const serverId = await incident.startServer(['pdf', 'mail']);
    const render = { name: 'render-pdf', queue: 'pdf' };
    for (let index = 0; index < 20; index += 1) await incident.run(serverId, render, undefined, 100);
    incident.pass(24 * 60);
    for (let index = 0; index < 20; index += 1) {
      await incident.run(serverId, { name: 'send-mail', queue: 'mail' }, undefined, 100);
      await incident.run(serverId, render, undefined, 4_000);
    }
    await incident.open(page, 'types?sort=running');
    const [first] = await page.getByRole('main').getByRole('row').filter({ hasText: 'render-pdf' }).all();
    expect(await first?.innerText()).to.match(/4\.\d s/);
    await follow(page, 'render-pdf');
    await follow(page, 'vs yesterday');
    const running = (await page.getByRole('figure', { name: 'Running' }).innerText()).replaceAll(/\s+/g, ' ');
    expect(running).to.match(/p95 4\.\d s/);
    expect(running).to.match(/yesterday, p95 1\d\d ms/);
  });

  it('how fast a queue grows, and when it will be empty', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['mail']);
    const add = async (jobs: number): Promise<void> => {
      await storage.enqueuer.enqueue(
        Array.from({ length: jobs }, () => ({
          ...storage.order({ name: 'send-mail', queue: 'mail' }),
          id: newId(incident.clock.now()),
        })),
      );
    };
    const take = async (limit: number): Promise<void> => {
      const claimed = await storage.claims.claim({ serverId, queue: 'mail', limit, leaseMs: 1e8 });
      await storage.completions.complete(
        claimed.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: 'null' } })),
      );
    };
    // Someone watches the page, which reads the queue every few seconds.
    const watch = async (seconds: number, change: () => Promise<void>): Promise<void> => {
      for (let second = 0; second < seconds; second += 5) {
        incident.clock.advance(5_000);
        await change();
        await incident.open(page, 'queues/mail');
      }
    };
    await add(3_000);
    await watch(60, () => add(50));
    const main = page.getByRole('main');
    expect(await main.innerText()).to.match(/Rose from 3,\d+ at \S+ to 3,600: growing by 10 ± [\d.]+\/s/);
    await watch(100, () => take(50));
    expect(await main.innerText()).to.match(/Fell from 3,\d+ at \S+ to 2,600: drains in about 4 min/);
  });

  it('who paused a queue, since when and why', async () => {
    const { storage } = incident;
    await incident.startServer(['mail']);
    await storage.add({ name: 'send-mail', queue: 'mail' });
    await incident.open(page, 'queues/mail');
    await page.getByText('Pause…').click();
    const form = page.locator('form[action$="/pause"]');
    await form.locator('[name=reason]').fill('PSP outage');
    await form.getByRole('button', { name: 'Pause the queue' }).click();
    await page.getByText('The queue is paused').waitFor();
    incident.pass(20);
    await incident.open(page);
    // The times on a page grow older while it is open.
    await follow(page, /Queue “mail” was paused by local [2-5]\d min ago: PSP outage/);
    expect(await textOn(page)).to.match(/Paused .+ paused by local [2-5]\d min ago: PSP outage/);
    await follow(page, 'History');
    expect(await page.getByRole('main').innerText()).to.match(/local.+PSP outage/s);
  });

  it('which jobs are poisonous, and deletes exactly those', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['feeds']);
    const poison = Array.from({ length: 10_000 }, () => ({
      ...storage.order({ name: 'import-feed', queue: 'feeds', args: { feed: 9 } }),
      id: newId(incident.clock.now()),
    }));
    await storage.enqueuer.enqueue(poison);
    const claimed = await storage.claims.claim({ serverId, queue: 'feeds', limit: 10_000, leaseMs: 1e8 });
    const { error } = failing('SyntaxError', 'Unexpected end of JSON input') as never;
    await storage.completions.complete(
      claimed.map(({ claim }) => ({ claim, outcome: { kind: 'failed', error } })),
    );
    await incident.run(
      serverId,
      { name: 'import-feed', queue: 'feeds' },
      failing('TimeoutError', 'no answer'),
    );
    await incident.open(page, 'errors');
    expect(await textOn(page)).to.match(/SyntaxError: Unexpected end of JSON input/);
    await follow(page, 'import-feed');
    expect(await textOn(page)).to.match(/10,000 jobs match/);
    await page.getByRole('link', { name: 'Delete all 10,000…' }).click();
    await page.getByRole('button', { name: /Delete 10,000 jobs/ }).click();
    await page.waitForURL('**/bulk/**');
    incident.pass(3);
    while (await storage.bulk.advance());
    await page.reload();
    expect(await textOn(page)).to.include('10,000');
    expect((await storage.jobs.stateCounts()).failed).to.equal(1);
  });

  it('what is wrong on a phone, and retries a job there', async () => {
    const serverId = await incident.startServer(['payments']);
    for (let index = 0; index < 9; index += 1)
      await incident.run(
        serverId,
        { name: 'charge-card', queue: 'payments' },
        failing('TypeError', 'amount is undefined'),
      );
    await page.setViewportSize({ width: 320, height: 640 });
    await incident.open(page);
    const warning = page.getByRole('link', { name: /Job type “charge-card” has been failing/ });
    const box = await warning.boundingBox();
    expect(box?.y).to.be.within(0, 640);
    await warning.click();
    await follow(page, 'charge-card');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(320);
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('It is ready').waitFor();
  });

  it('why a job failed, by keyboard only', async () => {
    const serverId = await incident.startServer(['payments']);
    await incident.run(
      serverId,
      { name: 'charge-card', queue: 'payments' },
      failing('TypeError', 'no amount'),
    );
    await incident.open(page);
    await page.keyboard.press('/');
    await page.keyboard.type('error:"no amount"');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/jobs?error=*');
    const isOnLink = (): Promise<boolean> =>
      page.evaluate(() => document.activeElement?.textContent === 'charge-card');
    for (let presses = 0; presses < 80 && !(await isOnLink()); presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/jobs\/[\da-f-]{36}/);
    expect(await textOn(page)).to.match(/Failed TypeError no amount/);
  });

  it('why a queue stands still, without JavaScript', async () => {
    const { storage } = incident;
    await incident.startServer(['mail']);
    await storage.add({ name: 'send-mail', queue: 'mail' });
    await storage.jobTypes.pause('send-mail');
    incident.pass(2);
    await page.close();
    page = await browser.newPage({ javaScriptEnabled: false });
    await incident.open(page);
    await follow(page, /Job type “send-mail” was paused 2 min ago/);
    await page.getByRole('button', { name: 'Resume' }).click();
    expect(await page.getByRole('main').innerText()).to.include('The job type is resumed.');
    await incident.open(page, 'queues/mail');
    expect(await page.getByRole('main').innerText()).not.to.include('paused');
  });
});
