import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openSite, pagePaths } from '../dashboard-site.js';
import { hostileReader, hostileTexts } from '../hostile-reader.js';
import { launchChromium } from './chromium.js';

const foreign = 'x7, img, iframe, [onfocus], [onerror], [onload], main [autofocus]';

describe('hostile text in a browser', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  for (const text of hostileTexts) {
    it(`makes no element, no dialog and no page too wide: ${JSON.stringify(text.slice(0, 40))}`, async () => {
      const site = await openSite({ read: ({ storage }) => hostileReader(storage, text) });
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      try {
        for (const path of pagePaths(site.story)) {
          await page.goto(`${site.url}/job-dashboard${path}`);
          const found = await page.locator(foreign).count();
          const width = await page.evaluate(() => document.documentElement.scrollWidth);
          expect([found, dialogs, width], path).to.deep.equal([0, [], 320]);
        }
      } finally {
        await page.close();
        await site.close();
      }
    });
  }
});
