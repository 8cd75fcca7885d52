import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openSite, pagePaths, type Site } from '../dashboard-site.js';
import { hostileReader, hostileTexts } from '../hostile-reader.js';
import { launchChromium } from '@longshore/test-support/chromium';

const foreign = 'x7, img, iframe, [onfocus], [onerror], [onload], main [autofocus]';
const longest = hostileTexts.length - 1;

describe('hostile text in a browser', () => {
  let browser: Browser;
  let page: Page;
  /** One site per hostile text, in the order of `hostileTexts`. */
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

  it('opens no dialog and makes no page too wide', async () => {
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

  it('does not reverse the text beside it', async () => {
    const turning = sites[hostileTexts.findIndex((text) => text.includes('\u202e'))] as Site;
    await page.goto(`${turning.url}/job-dashboard/jobs/${turning.story.failedId}`);
    const link = page.getByRole('link', { name: 'Jobs with this error' });
    const [first, second] = await link.evaluate((element) =>
      [0, 1].map((at) => {
        const letter = document.createRange();
        letter.setStart(element.firstChild as Text, at);
        letter.setEnd(element.firstChild as Text, at + 1);
        return letter.getBoundingClientRect().left;
      }),
    );
    expect(first).to.be.lessThan(second ?? 0);
  });

  it('becomes no element in the confirmation dialog', async () => {
    const opened: string[] = [];
    page.on('dialog', (dialog) => {
      opened.push(dialog.message());
      void dialog.dismiss();
    });
    for (const [index, text] of hostileTexts.entries()) {
      const { url } = sites[index] as Site;
      // Does not filter by a name with NUL. Job names cannot contain NUL, so no job would match.
      const name = text.includes('\0') ? '' : `&name=${encodeURIComponent(text)}`;
      await page.goto(`${url}/job-dashboard/jobs?state=failed${name}`);
      await page.getByRole('link', { name: /^Retry all/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('heading', { name: 'What happens' }).waitFor();
      const found = await page.locator(foreign).or(dialog.locator('[autofocus]')).count();
      const shown = (await dialog.textContent())?.includes(text.trim().slice(0, 6));
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([found, opened, shown, width], text.slice(0, 40)).to.deep.equal([0, [], true, 320]);
    }
  });

  it('becomes no element in refreshed regions or streamed log lines', async () => {
    for (const [index, text] of hostileTexts.entries()) {
      const { url, story } = sites[index] as Site;
      for (const path of ['jobs', `jobs/${story.processingId}`]) {
        await page.goto(`${url}/job-dashboard/${path}`);
        await page.route('**', (route) => {
          // Removes the entity tags, so that the server also returns unchanged regions.
          const { 'if-none-match': _known, ...headers } = route.request().headers();
          return route.continue({ headers });
        });
        await page.getByRole('button', { name: 'Pause updates' }).click();
        const refreshed = page.waitForResponse(
          (response) =>
            response.request().headers()['longshore-region'] !== undefined && response.status() === 200,
        );
        await page.getByRole('button', { name: 'Resume updates' }).click();
        await refreshed;
        await page.getByText('Live, updated').waitFor({ state: 'attached' });
        expect(await page.locator(foreign).count(), `${path}: ${text.slice(0, 40)}`).to.equal(0);
        await page.unrouteAll();
      }
    }
  });
});
