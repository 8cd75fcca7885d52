import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import type { Browser, Page } from 'playwright-core';
import { openSite, type Site } from '../dashboard-site.js';
import { shownAge } from './live-status.js';
import { launchChromium } from '@longshore/test-support/chromium';

describe('a live page in use', () => {
  let browser: Browser;
  let site: Site;
  let page: Page;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    page = await browser.newPage();
  });
  afterEach(async () => {
    await page.close();
    await site.close();
  });

  const open = (path: string) => page.goto(`${site.url}/job-dashboard/${path}`);
  const status = () => page.locator('#live .text').textContent();
  const summary = (word: string) => page.locator('summary', { hasText: word });
  const focused = () => page.evaluate(() => document.activeElement?.nodeName);
  const cancelScheduled = async (): Promise<void> => {
    await site.story.storage.control.cancel(site.story.scheduledId);
  };
  /** Waits for `times` responses to requests for a region. */
  const requested = async (region: string, times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await page.waitForResponse(
        (response) => response.request().headers()['longshore-region']?.split(', ').includes(region) === true,
      );
    }
  };

  it('does not replace an open confirmation by another', async () => {
    await open(`jobs/${site.story.scheduledId}`);
    await summary('Cancel…').click();
    await cancelScheduled();
    const paused = 'Paused while a form is open, as of';
    await eventually(status, (text) => text?.includes(paused) === true && shownAge(text) >= 4);
    expect(await page.locator('details.act[open] button').textContent()).to.equal('Cancel the job');
    await summary('Cancel…').click();
    await summary('Delete…').waitFor();
    expect(await page.locator('details.act[open]').count()).to.equal(0);
  });

  it('does not replace the focused button by another', async () => {
    const { storage, processingId } = site.story;
    await open(`jobs/${processingId}`);
    await summary('Cancel…').focus();
    const job = await storage.jobs.find(processingId);
    const claim = { jobId: processingId, queue: 'default', serverId: job?.serverId ?? '', attempt: 2 };
    await storage.completions.complete([{ claim, outcome: { kind: 'done', result: 'null' } }]);
    await summary('Delete…').waitFor();
    expect(await focused()).to.equal('BODY');
  });

  it('does not turn a focused “Stop taking jobs” into “Shut down”', async () => {
    const { storage, serverId } = site.story;
    await open(`servers/${serverId}`);
    await summary('Stop taking jobs…').focus();
    const servers = await storage.servers.list();
    storage.servers.list = async () => servers.map((server) => ({ ...server, state: 'quiet' as const }));
    await page.getByText('It takes no new jobs').waitFor();
    expect(await focused()).to.equal('BODY');
  });

  it('keeps details open when rows are inserted above', async () => {
    const { storage, failedId } = site.story;
    await open(`jobs/${failedId}`);
    const attempt = page.locator('.attempt', { hasText: 'Attempt 1' }).locator('details');
    await attempt.locator('summary').click();
    await storage.control.retry(failedId);
    await storage.start(site.story.serverId, 'billing');
    await page.locator('.attempt', { hasText: 'Attempt 4' }).waitFor();
    const isOpen = await page
      .locator('.attempt')
      .evaluateAll((attempts) =>
        attempts.map((attempt) => [
          attempt.querySelector('h3')?.textContent?.slice(0, 9),
          attempt.querySelector('details')?.open,
        ]),
      );
    expect(isOpen).to.deep.equal([
      ['Attempt 4', undefined],
      ['Attempt 3', true],
      ['Attempt 2', undefined],
      ['Attempt 1', true],
    ]);
  });

  it('keeps the focus on the same job when others are inserted above', async () => {
    await open('jobs?queue=mail');
    const link = page.getByRole('row', { name: 'send-receipt' }).locator('a.name');
    await link.focus();
    await site.story.storage.add({ name: 'brand-new', queue: 'mail' });
    await page.getByRole('row', { name: 'brand-new' }).waitFor();
    expect(await link.evaluate((element) => element === document.activeElement)).to.equal(true);
  });

  it('shows that updates are paused, and the list’s age, while rows are selected', async () => {
    await open('jobs?state=failed');
    await page.locator('td.pick input').first().check();
    const paused = 'Paused while rows are selected, as of';
    await eventually(status, (text) => text?.includes(paused) === true && shownAge(text) >= 7);
  });

  it('goes on when the viewer resumes updates, and gives up the selection', async () => {
    await open('jobs?state=failed');
    await page.locator('td.pick input').first().check();
    await page.getByRole('button', { name: 'Resume updates' }).click();
    await eventually(status, (text) => text?.startsWith('Live') === true);
    expect(await page.locator('td.pick input:checked').count()).to.equal(0);
  });

  it('does not count on how long a job has been running while updates are paused', async () => {
    await open('jobs?state=processing');
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await eventually(status, (text) => shownAge(text) >= 1);
    const running = page.locator('tbody time[data-elapsed]').first();
    const before = await running.textContent();
    await eventually(status, (text) => shownAge(text) >= 4);
    expect(await running.textContent()).to.equal(before);
  });

  it('shows that one part gets no answer, though the others do', async () => {
    await open('');
    await page.route('**/*', (route) =>
      route.request().headers()['longshore-region']?.includes('queues') === true
        ? route.fulfill({ body: lateRegion('queues') })
        : route.continue(),
    );
    await eventually(status, (text) => text?.includes('No response. As of') === true);
    await requested('flow', 2);
    const text = await status();
    expect(text).to.include('No response. As of');
    expect(shownAge(text)).to.be.above(0);
  });

  it('keeps its content when the storage takes too long to refresh it', async () => {
    await open('');
    await page.route('**/*', (route) =>
      route.request().headers()['longshore-region']?.includes('flow') === true
        ? route.fulfill({ body: lateRegion('flow') })
        : route.continue(),
    );
    await eventually(status, (text) => text?.includes('No response. As of') === true);
    expect(await page.locator('.flow').count()).to.equal(1);
  });

  it('shows that the viewer is signed out, with a link to sign in again', async () => {
    await open('');
    await page.route('**/*', (route) =>
      route.request().headers()['longshore-region'] === undefined
        ? route.continue()
        : route.fulfill({ status: 401, body: 'Sign in' }),
    );
    const again = page.getByRole('link', { name: 'Sign in again' });
    await again.waitFor();
    expect(await status()).to.include('You are signed out');
    await again.click();
    await eventually(status, (text) => text?.startsWith('Live') === true);
  });

  it('polls the log while its stream is cut off, and reconnects', async () => {
    const { storage, processingId } = site.story;
    await page.route('**/stream?*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
    const refused = page.waitForResponse(/stream/);
    await open(`jobs/${processingId}`);
    await refused;
    const job = await storage.jobs.find(processingId);
    const claim = { jobId: processingId, queue: 'default', serverId: job?.serverId ?? '', attempt: 2 };
    const at = new Date(storage.manualClock.now());
    const line = { line: 99, at, level: 'info', message: 'Page 91 of 214', fields: null } as const;
    await storage.reports.report([{ claim, progress: null, lines: [line] }]);
    await page.locator('.log', { hasText: 'Page 91 of 214' }).waitFor();
    await page.unroute('**/stream?*');
    await page.waitForResponse((response) => response.url().includes('stream') && response.status() === 200);
  });
});

function lateRegion(name: string): string {
  const late = '<p data-late>The storage did not respond in time</p>';
  return `<div class="region" data-region="${name}" data-every="2000" data-etag="">${late}</div>`;
}
