import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openSite, pagePaths, type Site } from '../dashboard-site.js';
import { launchChromium } from './chromium.js';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('in a browser', () => {
  let browser: Browser;
  let site: Site;
  let locked: Site;
  before(async () => {
    browser = await launchChromium();
    site = await openSite({ control: ({ storage }) => storage });
    locked = await openSite({ password: 'secret' });
  });
  after(async () => {
    await browser.close();
    await Promise.all([site.close(), locked.close()]);
  });

  const addresses = (): string[] => [
    ...pagePaths(site.story).map((path) => `${site.url}/job-dashboard${path}`),
    `${site.url}/job-dashboard/nowhere`,
    `${locked.url}/job-dashboard/`,
  ];
  const withPage = async (
    options: Parameters<Browser['newContext']>[0],
    use: (page: Page, context: BrowserContext) => Promise<void>,
  ): Promise<void> => {
    const context = await browser.newContext({ bypassCSP: false, ...options });
    try {
      await use(await context.newPage(), context);
    } finally {
      await context.close();
    }
  };

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [320, 1280]) {
      it(`no page has an axe violation in ${colorScheme} at ${width} px`, async () => {
        // axe is injected past the policy, which is as strict in this context as anywhere but for that.
        await withPage({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true }, async (page) => {
          for (const address of addresses()) {
            await page.goto(address);
            await page.addScriptTag({ content: axeSource });
            const violations = await page.evaluate(async () => {
              const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
              const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
              const results = await axe.run({ runOnly: tags });
              return results.violations.map(
                ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
              );
            });
            expect(violations, address).to.deep.equal([]);
          }
        });
      });
    }
  }

  it('no page scrolls sideways at 320 px', async () => {
    await withPage({ viewport: { width: 320, height: 640 } }, async (page) => {
      for (const address of addresses()) {
        await page.goto(address);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), address).to.equal(320);
      }
    });
  });

  it('no page breaks its own content security policy or throws', async () => {
    await withPage({}, async (page) => {
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      for (const address of addresses().slice(0, -2)) await page.goto(address, { waitUntil: 'networkidle' });
      expect(complaints).to.deep.equal([]);
    });
  });

  it('every page can be read, searched and left without scripts', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${site.url}/job-dashboard`);
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByRole('link', { name: 'Previous' }).click();
      await page.getByRole('searchbox', { name: 'Find jobs' }).fill('queue:mail');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/jobs?queue=mail');
      await page.getByRole('link', { name: 'send-receipt' }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('send-receipt');
      expect(await page.getByRole('link', { name: 'Reload' }).isVisible()).to.equal(true);
    });
  });

  it('one acts without scripts, and is asked first where it matters', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs/${site.story.scheduledId}`);
      const cancel = page.getByRole('button', { name: 'Cancel the job' });
      expect(await cancel.isVisible()).to.equal(false);
      await page.getByText('Cancel…').click();
      await cancel.click();
      await page.getByText('It was cancelled and will not run again.').waitFor();
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByText('It is ready').waitFor();
    });
  });

  it('one signs in and out without scripts', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${locked.url}/job-dashboard/queues`);
      await page.getByLabel('Password').fill('secret');
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Queues');
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Sign in');
    });
  });

  it('the slash key goes to the search box, but not out of a field', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${site.url}/job-dashboard/`);
      const search = page.getByRole('searchbox');
      await page.keyboard.press('/');
      await page.keyboard.type('a/b');
      expect(await search.inputValue()).to.equal('a/b');
    });
  });

  it('what has the focus is visible', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${site.url}/job-dashboard/jobs`);
      for (let pressed = 0; pressed < 25; pressed += 1) {
        await page.keyboard.press('Tab');
        const outline = await page.evaluate(
          () => getComputedStyle(document.activeElement ?? document.body).outlineWidth,
        );
        expect(outline).to.equal('2px');
      }
    });
  });
});
