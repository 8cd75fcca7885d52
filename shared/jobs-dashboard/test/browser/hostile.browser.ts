import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openSite, pagePaths, type Site } from '../dashboard-site.js';
import { hostileReader, hostileTexts } from '../hostile-reader.js';
import { launchChromium } from './chromium.js';

const foreign = 'x7, img, iframe, [onfocus], [onerror], [onload], main [autofocus]';
const longest = hostileTexts.length - 1;

describe('hostile text in a browser', () => {
  let browser: Browser;
  let page: Page;
  /** One for each text. */
  let sites: Site[];
  before(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    sites = await Promise.all(
      hostileTexts.map((text) =>
        openSite({ read: ({ storage }) => hostileReader(storage, text), control: ({ storage }) => storage }),
      ),
    );
  });
  after(async () => {
    await browser.close();
    await Promise.all(sites.map((site) => site.close()));
  });

  for (const [index, text] of hostileTexts.entries()) {
    it(`becomes no element: ${JSON.stringify(text.slice(0, 40))}`, async () => {
      const { url, story } = sites[index] as Site;
      await page.goto(`${url}/job-dashboard/help`);
      const made = await page.evaluate(
        async ({ paths, selector }) => {
          const found: string[] = [];
          for (const path of paths) {
            const html = await (await fetch(`/job-dashboard${path}`)).text();
            const { title, body } = new DOMParser().parseFromString(html, 'text/html');
            if (!title.endsWith('Longshore') || body.querySelector('main') === null)
              found.push(`${path} is no page`);
            if (body.querySelector(selector) !== null) found.push(path);
          }
          return found;
        },
        { paths: pagePaths(story), selector: foreign },
      );
      expect(made).to.deep.equal([]);
    });
  }

  it('opens no dialog and makes no page too wide, whichever page shows it', async () => {
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const [index, path] of pagePaths((sites[0] as Site).story).entries()) {
      for (const chosen of [index % longest, longest]) {
        const { url, story } = sites[chosen] as Site;
        await page.goto(`${url}/job-dashboard${pagePaths(story)[index] ?? ''}`);
        const found = await page.locator(foreign).count();
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([found, dialogs, width], `${path} ${hostileTexts[chosen]?.slice(0, 40)}`).to.deep.equal([
          0,
          [],
          320,
        ]);
      }
    }
  });
});
