import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openSite, pagePaths, type Site } from '../dashboard-site.js';
import { hostileReader, hostileTexts } from '../hostile-reader.js';
import { launchChromium } from '@longshore/test-support/chromium';

const foreign = 'x7, img, iframe, [onfocus], [onerror], [onload], main [autofocus]';
const longest = hostileTexts.length - 1;

/** Returns the pieces of the page's own text, outside of `bdi`, that are shown from right to left. */
function reversedTexts(): string[] {
  const texts: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement?.closest('bdi, title, script, template') !== null) continue;
    for (const { index = 0 } of (node.textContent ?? '').matchAll(/[a-z]{2}/gi)) {
      const [first, second] = [index, index + 1].map((at) => {
        const letter = document.createRange();
        letter.setStart(node, at);
        letter.setEnd(node, at + 1);
        return letter.getBoundingClientRect();
      });
      if (first === undefined || second === undefined || first.top !== second.top) continue;
      if (first.left > second.left) texts.push(node.textContent ?? '');
    }
  }
  return texts;
}

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
      const created = await page.evaluate(
        async ({ paths, selector }) => {
          const foreignElements: string[] = [];
          for (const path of paths) {
            const html = await (await fetch(`/job-dashboard${path}`)).text();
            const { title, body } = new DOMParser().parseFromString(html, 'text/html');
            if (!title.endsWith('Longshore') || body.querySelector('main') === null)
              foreignElements.push(`${path} is no page`);
            if (body.querySelector(selector) !== null) foreignElements.push(path);
          }
          return foreignElements;
        },
        { paths: pagePaths(story), selector: foreign },
      );
      expect(created).to.deep.equal([]);
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
        const foreignElements = await page.locator(foreign).count();
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(
          [foreignElements, dialogs, width],
          `${path} ${hostileTexts[chosen]?.slice(0, 40)}`,
        ).to.deep.equal([0, [], 320]);
      }
    }
  });

  it('does not push anything out of a wide page', async () => {
    const { url, story } = sites[longest] as Site;
    const wide = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    for (const path of pagePaths(story)) {
      await wide.goto(`${url}/job-dashboard${path}`);
      const outside = await wide.evaluate(() =>
        [
          ...document.querySelectorAll(
            'table, :is(main, header) :is(a, button):not(form *, dialog *, .detail *)',
          ),
        ]
          .map((element) => element.closest('th, td') ?? element) // a cell hides what does not fit
          .filter((shown) => shown.getBoundingClientRect().right > window.innerWidth)
          .map((shown) => shown.outerHTML.slice(0, 200)),
      );
      expect(outside, path).to.deep.equal([]);
    }
    await wide.close();
  });

  it('does not reverse the text beside it', async () => {
    for (const [index, text] of hostileTexts.entries()) {
      if (!text.includes('\u202e')) continue;
      const { url, story } = sites[index] as Site;
      for (const path of pagePaths(story)) {
        await page.goto(`${url}/job-dashboard${path}`);
        const reversed = await page.evaluate(reversedTexts);
        expect(reversed, path).to.deep.equal([]);
      }
    }
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
      const foreignElements = await page.locator(foreign).or(dialog.locator('[autofocus]')).count();
      const shown = (await dialog.textContent())?.includes(text.replace('\u2069', '').trim().slice(0, 6));
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([foreignElements, opened, shown, width], text.slice(0, 40)).to.deep.equal([0, [], true, 320]);
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
