import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openSite, pagePaths } from '../dashboard-site.js';
import { hostileReader, hostileTexts } from '../hostile-reader.js';
import { launchChromium } from './chromium.js';

describe('hostile text in a browser', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  it('makes no element, no attribute and no dialog', async () => {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const text of hostileTexts) {
      const site = await openSite({ read: ({ storage }) => hostileReader(storage, text) });
      for (const path of pagePaths(site.story)) {
        await page.goto(`${site.url}/job-dashboard${path}`);
        const found = await page.evaluate(() =>
          Array.from(
            document.querySelectorAll('x7, img, iframe, [onfocus], [onerror], [onload], main [autofocus]'),
            (element) => element.outerHTML,
          ),
        );
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([found, dialogs, width], `${text.slice(0, 40)} on ${path}`).to.deep.equal([[], [], 320]);
      }
      await site.close();
    }
  });
});
