import { defineJob, defineRecurringJob } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '@longshore/test-support/chromium';
import { axeViolations } from './axe.js';
import { failing, follow, Incident, textOn } from './incident.js';

/** Incidents that an operator learns of by a warning, each with what the storage itself says. */
describe('an operator is warned', () => {
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

  /** The card of the warning whose title begins like this. */
  const card = (title: string | RegExp) =>
    page.locator('.warnings > li').filter({ has: page.getByRole('link', { name: title }) });
  const cardText = async (title: string | RegExp): Promise<string> =>
    (await card(title).innerText()).replaceAll(/\s+/g, ' ');
  const record = (): Promise<string> => incident.storage.recordWarnings();

  it('of a job type that runs twenty times longer, since when, and by how much', async () => {
    const serverId = await incident.startServer(['mail']);
    const receipt = { name: 'send-receipt', queue: 'mail' };
    for (let minute = 0; minute < 60; minute++) {
      await incident.run(serverId, receipt, undefined, 200);
      await incident.run(serverId, receipt, undefined, 200);
      incident.pass(1);
    }
    for (let minute = 0; minute < 5; minute++) {
      for (let job = 0; job < 15; job++) await incident.run(serverId, receipt, undefined, 4_000);
      incident.pass(1);
    }
    await record();
    await incident.open(page);
    const text = await cardText(/Job type “send-receipt” has been running/);
    expect(text).to.match(/^(1[6-9]|2\d) × longer Job type “send-receipt” has been running/);
    expect(text).to.match(/ since (\d\d:\d\d).* Since \1/);
    expect(text).to.match(/median [34]\.\d s, before (1[6-9]|2[0-4])\d ms\./);
    expect(text).to.match(/Running, median, last hour peak [34]\.\d s, now [34]\.\d s/);
    await follow(page, /Job type “send-receipt” has been running/);
    expect(page.url()).to.match(/types\/send-receipt$/);
  });

  it('of the tenant whose jobs fail', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['sync']);
    const run = async (customer: number, isFailing: boolean): Promise<void> => {
      await storage.add({ name: 'sync-crm', queue: 'sync', tags: [`customer:${customer}`] });
      const claimed = await storage.start(serverId, 'sync');
      incident.clock.advance(20);
      await storage.end(
        claimed,
        isFailing ? failing('HttpError', '401 from the CRM') : { kind: 'done', result: 'null' },
      );
    };
    for (let index = 0; index < 60; index++) await run(index % 9, false);
    incident.pass(10);
    for (let index = 0; index < 80; index++) await run(index % 2 === 0 ? 7 : index % 9, index % 2 === 0);
    await incident.open(page);
    const failed = await storage.jobs.count({ name: ['sync-crm'], tag: ['customer:7'], state: ['failed'] });
    expect(failed.count).to.equal(40);
    expect(await cardText(/Job type “sync-crm” has been failing/)).to.match(
      /All of the latest 40 failures have tag customer:7, and \d of the latest 40 successes since the type began to fail\./,
    );
  });

  it('of a paused schedule whose runs are skipped, and resumes it', async () => {
    const { storage } = incident;
    await incident.startServer(['nightly']);
    const definition = defineJob({ name: 'back-up', queue: 'nightly' });
    await storage.recurring.addOrUpdate(
      defineRecurringJob({ id: 'hourly-backup', definition, args: {}, cron: '0 * * * *' }),
    );
    await storage.recurring.pause('hourly-backup', { by: 'ann', reason: 'disk full' });
    incident.pass(181);
    await incident.open(page);
    expect(await cardText(/Recurring job “hourly-backup” was paused/)).to.match(
      /^3 runs skipped Recurring job “hourly-backup” was paused by ann 3 h( 1 min)? ago: disk full\./,
    );
    await card(/Recurring job “hourly-backup”/)
      .getByRole('button', { name: 'Resume the recurring job' })
      .click();
    await page.getByText('The recurring job is resumed').waitFor();
    expect((await storage.recurring.find('hourly-backup'))?.pausedAt).to.equal(null);
    expect(await textOn(page)).not.to.include('hourly-backup” was paused');
  });

  it('of a limit that is too low, and who set it', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['mail']);
    await incident.open(page, 'queues/mail');
    await page.getByText('Change…').click();
    const form = page.locator('form[action$="/limit"]');
    await form.locator('[name=jobs]').fill('5');
    await form.locator('[name=seconds]').fill('');
    await form.getByRole('button').first().click();
    expect(await textOn(page)).to.match(/seconds/i);
    expect((await storage.queues.find('mail'))?.rateLimit ?? null).to.equal(null);
    await incident.open(page, 'queues/mail');
    await page.getByText('Change…').click();
    await form.locator('[name=concurrency]').fill('1');
    await form.getByRole('button').first().click();
    await page.waitForLoadState();
    for (let index = 0; index < 30; index++) await storage.add({ name: 'send-mail', queue: 'mail' });
    await storage.start(serverId, 'mail');
    await record();
    incident.pass(6);
    await record();
    await incident.open(page);
    const text = await cardText(/Queue “mail” lags/);
    expect(text).to.include('but queue “mail” is at its limit of 1 job at once');
    expect(text).to.match(/Just before: .+ local .+ queue “mail”/);
    await incident.open(page, 'queues/mail');
    expect(await textOn(page)).to.include(
      'At most 1 job at once, across all servers, set by local 6 min ago.',
    );
  });

  it('of a deployment that reached one of two servers, and breaks jobs there', async () => {
    const oldId = await incident.startServer(['payments'], { version: '2.3.9' });
    const charge = { name: 'charge-card', queue: 'payments' };
    for (let index = 0; index < 60; index++) await incident.run(oldId, charge);
    incident.pass(20);
    const newId = await incident.startServer(['payments'], { host: 'worker-2', version: '2.4.0' });
    for (let index = 0; index < 80; index++)
      await (index % 2 === 0
        ? incident.run(oldId, charge)
        : incident.run(newId, charge, failing('TypeError', 'amount is undefined')));
    await record();
    await incident.open(page);
    const text = await cardText(/Job type “charge-card” has been failing/);
    expect(text).to.match(/^\d\d % of the latest \d+ attempts failed/);
    expect(text).to.include(
      'All of the latest 40 failures have version 2.4.0, and none of the latest 40 successes since the type began to fail.',
    );
    expect(text).to.match(/Just before: .*version 2\.4\.0 was deployed/);
  });

  it('that the check of the warnings takes too long while the database is slow', async () => {
    const { storage } = incident;
    await incident.startServer(['mail']);
    incident.readTimeoutMs = 300;
    const slow = new Promise<never>(() => undefined);
    await incident.open(page);
    Object.defineProperty(storage.timings, 'listNames', { value: () => slow });
    incident.pass(1);
    await incident.open(page, 'servers');
    await page.getByText('The check of the warnings took too long').waitFor();
  });

  it('of a flood of one key after half a minute, with who is not affected', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['exports']);
    await storage.enqueuer.enqueue(
      Array.from({ length: 1_500 }, () => ({
        ...storage.order({ name: 'export', queue: 'exports' }),
        id: newId(incident.clock.now()),
        meta: { concurrencyKey: 'tenant-7', concurrencyLimit: 1 },
      })),
    );
    await storage.start(serverId, 'exports');
    incident.clock.advance(31_000);
    const id = await record();
    await incident.open(page);
    const { keys } = await storage.queues.listBlockingKeys('exports');
    const blocked = keys[0]?.blocked;
    const figure = `${blocked?.exact === false ? '≥ ' : ''}${(blocked?.count ?? 0).toLocaleString('en')}`;
    const text = await cardText(/jobs of queue “exports” are blocked by concurrency key “tenant-7”/);
    expect(text).to.match(new RegExp(`^${figure} jobs blocked `));
    expect(text).to.include('Jobs with other keys are not affected.');
    expect(text).to.match(/The next of them has waited for 31 s\..* At least since \d\d:\d\d/);
    await incident.open(page, `incidents/${id}`);
    expect(await textOn(page)).to.match(/Began .* or earlier/);
    await incident.open(page);
    await page.getByText('Raise the key’s limit…').click();
    await page.getByText('Jobs that are enqueued later have the limit that code gives them.').waitFor();
    await page.getByLabel('Jobs at once').fill('20');
    await page.getByRole('button', { name: 'Set the limit' }).click();
    await page.getByText('The jobs that the key blocks have the new limit.').waitFor();
    const raised = (await storage.queues.listBlockingKeys('exports')).keys[0];
    expect(raised?.details?.limit).to.equal(20);
    expect((blocked?.count ?? 0) - (raised?.blocked.count ?? 0)).to.equal(19);
  });

  it('of another error of a job type whose warning is muted', async () => {
    const { storage } = incident;
    const serverId = await incident.startServer(['payments']);
    const charge = { name: 'charge-card', queue: 'payments' };
    for (let index = 0; index < 60; index++) await incident.run(serverId, charge);
    incident.pass(5);
    const fail = async (message: string): Promise<void> => {
      for (let index = 0; index < 20; index++)
        await incident.run(serverId, charge, failing('HttpError', message));
    };
    await fail('402 card declined');
    const id = await record();
    await incident.open(page, `incidents/${id}`);
    await page.getByText('Mute…').click();
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText('muted', { exact: false }).first().waitFor();
    incident.pass(4);
    await fail('connection refused by the gateway');
    await incident.open(page);
    const text = await cardText(/also fails with a new error/);
    expect(text).to.match(
      /^20 jobs Job type “charge-card” also fails with a new error since .+: HttpError: connection refused by the gateway\./,
    );
    const titles = await page.locator('.warnings > li').allInnerTexts();
    expect(titles.at(-1)).to.include('has been failing').and.include('Muted until');
    expect((await storage.incidents.find(id))?.mutedUntil).to.be.a('date');
  });

  it('of an error that can be muted in the list of errors, whose text keeps its width', async () => {
    const serverId = await incident.startServer(['payments']);
    const charge = { name: 'charge-card', queue: 'payments' };
    for (let index = 0; index < 60; index++) await incident.run(serverId, charge);
    incident.pass(5);
    const declined = failing('HttpError', '402: the bank of the customer has declined the card');
    for (let index = 0; index < 20; index++) await incident.run(serverId, charge, declined);
    await record();
    await page.setViewportSize({ width: 1_280, height: 800 });
    await incident.open(page, 'errors');
    const error = page.locator('.errors tbody th');
    const width = async (): Promise<number> => Math.round((await error.boundingBox())?.width ?? 0);
    const closed = await width();
    await page.getByText('Mute…').click();
    await page.getByLabel('or until').waitFor();
    expect([await width(), await axeViolations(page)]).to.deep.equal([closed, []]);
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText('Muted until').waitFor();
    await incident.open(page, 'errors');
    await page.getByText('With a reason…').click();
    await page.getByLabel('Reason').waitFor();
    expect(await width()).to.equal(closed);
  });
});
