import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openSite, type Site } from '../dashboard-site.js';
import { axeViolations } from './axe.js';
import { launchChromium } from '@longshore/test-support/chromium';

describe('reasons and pauses that end', () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;
  let page: Page;

  before(async () => {
    browser = await launchChromium();
    site = await openSite({
      control: ({ storage }) => storage,
      authorize: () => ({ name: 'ann', role: 'admin' }),
      requireReasons: true,
    });
    context = await browser.newContext({ timezoneId: 'Europe/Berlin' });
    page = await context.newPage();
  });
  after(async () => {
    await browser.close();
    await site.close();
  });

  const open = (path: string) => page.goto(`${site.url}/job-dashboard/${path}`);
  const main = (): Promise<string> => page.locator('main').innerText();

  it('pause a queue only with a reason, and show who, why and until when wherever the pause is shown', async () => {
    await open('queues/mail');
    await page.getByText('Pause…').click();
    await page.getByRole('button', { name: 'Pause the queue' }).click();
    expect(await site.story.storage.queues.find('mail')).to.include({ pausedAt: null });

    for (const width of [1_280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await axeViolations(page), `the form at ${width} px`).to.deep.equal([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(width);
    }
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.getByLabel('Reason').first().fill('PSP outage <b>');
    await page.locator('select[name=for]').first().selectOption('in 1 hour');
    await page.getByRole('button', { name: 'Pause the queue' }).click();
    await page.locator('p.state[role=status]').waitFor();

    // The time zone of the browser is Europe/Berlin.
    const until = (await site.story.storage.queues.find('mail'))?.pausedUntil;
    const there = until?.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    const text = new RegExp(
      `paused by ann (just now|\\d+ (s|min) ago|now): PSP outage <b>, until ${there}`,
      'i',
    );
    expect(await main()).to.match(text);
    await open('');
    expect(await main()).to.match(text);
    await open('queues');
    expect(await main()).to.match(new RegExp(`Paused\\s+by ann .*: PSP outage <b>, until ${there}`));
    expect(await axeViolations(page)).to.deep.equal([]);
    await open('audit');
    expect(await main()).to.include('Reason: PSP outage <b>');
  });

  it('record the reason for resuming, which is not required', async () => {
    await open('queues/mail');
    await page.getByText('With a reason…').click();
    await page.getByLabel('Reason (optional)').first().fill('PSP is back');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.locator('p.state[role=status]').waitFor();
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'queues/resume', reason: 'PSP is back' });
  });
});
