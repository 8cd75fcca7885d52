import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { MemoryStorage } from '@longshore/jobs';
import type { Browser, Page } from 'playwright-core';
import { openSite, type Site, type SiteOptions } from '../dashboard-site.js';
import { axeViolations } from './axe.js';
import { launchChromium } from '@longshore/test-support/chromium';

const variants = [
  { colorScheme: 'light', width: 1_280 },
  { colorScheme: 'dark', width: 320 },
] as const;
const lists = ['', 'jobs', 'queues', 'recurring', 'batches', 'errors', 'servers', 'audit', 'bulk'];
const never = new Promise<never>(() => {});

/** Covers states that `pages.browser.ts` does not cover, such as a page after a wrong password. */
describe('a page in a special state, in a browser,', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const withSite = async (
    options: SiteOptions,
    use: (site: Site, page: Page, open: (path: string) => Promise<void>) => Promise<void>,
  ): Promise<void> => {
    const site = await openSite(options);
    const page = await browser.newPage();
    try {
      await use(site, page, async (path) => void (await page.goto(`${site.url}/job-dashboard/${path}`)));
    } finally {
      await page.close();
      await site.close();
    }
  };
  const expectAccessible = async (page: Page): Promise<void> => {
    for (const { colorScheme, width } of variants) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([await axeViolations(page), wide], `${page.url()}, ${colorScheme}`).to.deep.equal([[], width]);
    }
  };

  it('is accessible after a wrong password', async () => {
    await withSite({ password: 'secret' }, async (_site, page, open) => {
      await open('');
      await page.getByLabel('Password').fill('guess');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await expectAccessible(page);
    });
  });

  it('is accessible where nobody is allowed in', async () => {
    await withSite({ authorize: () => null }, async (_site, page, open) => {
      await open('');
      await expectAccessible(page);
    });
  });

  it('is accessible when the storage takes too long', async () => {
    const read: SiteOptions['read'] = ({ storage }) =>
      overriding(storage, { jobs: { find: () => never, list: () => never } });
    await withSite({ read, readTimeoutMs: 50 }, async (site, page, open) => {
      await open('jobs');
      await expectAccessible(page);
      await open(`jobs/${site.story.doneId}`);
      await expectAccessible(page);
    });
  });

  it('is accessible while the store is empty', async () => {
    const storage = new MemoryStorage();
    await withSite({ read: () => storage, control: () => storage }, async (_site, page, open) => {
      for (const path of lists) {
        await open(path);
        await expectAccessible(page);
      }
    });
    await storage.close();
  });

  it('is accessible for viewers', async () => {
    const authorize = (): { name: string; role: 'viewer' } => ({ name: 'vera', role: 'viewer' });
    await withSite({ authorize, control: ({ storage }) => storage }, async (site, page, open) => {
      const { failedId, serverId } = site.story;
      for (const path of [
        '',
        'jobs?state=failed',
        `jobs/${failedId}`,
        'queues/mail',
        `servers/${serverId}`,
      ]) {
        await open(path);
        expect(await page.locator('form.act').count()).to.equal(0);
        await expectAccessible(page);
      }
    });
  });

  it('is accessible with all details open', async () => {
    await withSite({ control: ({ storage }) => storage }, async (site, page, open) => {
      const { scheduledId, failedId, serverId, batchId } = site.story;
      for (const path of [
        '',
        `jobs/${scheduledId}`,
        `jobs/${failedId}`,
        'queues/mail',
        `servers/${serverId}`,
        `batches/${batchId}`,
        'recurring/count-stock',
      ]) {
        await open(path);
        const folds = page.locator('details');
        await folds.evaluateAll((elements) => {
          for (const fold of elements) fold.setAttribute('open', '');
        });
        expect(await folds.count()).to.be.above(0);
        await expectAccessible(page);
      }
    });
  });

  it('with arguments of a thousand lines, scrolls them separately, and by keyboard', () =>
    withSite({}, async ({ story }, page, open) => {
      const args = { lines: Array.from({ length: 1_000 }, (_, line) => line) };
      await open(`jobs/${await story.storage.add({ name: 'long', args })}`);
      await expectAccessible(page);
      const shown = page.locator('pre.json');
      expect((await shown.boundingBox())?.height).to.be.at.most(480);
      await shown.focus();
      await page.keyboard.press('End');
      await page.waitForFunction(() => (document.querySelector('pre.json')?.scrollTop ?? 0) > 1_000);
    }));
});
