import { expect } from 'chai';
import { defineJob, JobClient, MemoryStorage } from '@longshore/jobs';
import { during, eventually } from '@longshore/test-support';
import type { Browser, Page } from 'playwright-core';
import Type from 'typebox';
import { openSite, type Site } from '../dashboard-site.js';
import { axeViolations } from './axe.js';
import { shownAge } from './live-status.js';
import { launchChromium } from '@longshore/test-support/chromium';

describe('a live page in a browser', () => {
  let browser: Browser;
  let site: Site;
  let page: Page;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    site = await openSite();
    page = await browser.newPage();
  });
  afterEach(async () => {
    await page.close();
    await site.close();
  });

  const open = (path: string) => page.goto(`${site.url}/job-dashboard/${path}`);
  const figure = (state: string) =>
    page.locator('.figure', { hasText: state }).locator('.value').textContent();
  const status = () => page.locator('#live .text').textContent();
  const addJob = () => site.story.storage.add({ name: 'brand-new' });

  it('shows a new job without a reload, and keeps the focus where it was', async () => {
    await open('');
    const link = page.getByRole('link', { name: 'images' });
    await link.focus();
    expect(await figure('Enqueued')).to.equal('10');
    await addJob();
    await eventually(
      () => figure('Enqueued'),
      (count) => count === '11',
    );
    expect(await link.evaluate((element) => element === document.activeElement)).to.equal(true);
  });

  it('shows the result of a form once', async () => {
    const ownSite = await openSite({ control: ({ storage }) => storage });
    try {
      await page.goto(`${ownSite.url}/job-dashboard/jobs/${ownSite.story.failedId}`);
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByText('The job will run again.').waitFor();
      expect(new URL(page.url()).search).to.equal('');
      expect(await axeViolations(page)).to.deep.equal([]);
      await page.reload();
      expect(await page.getByText('The job will run again.').count()).to.equal(0);
    } finally {
      await ownSite.close();
    }
  });

  it('keeps the page of a failed job live, although its dependents are offered checked, until that is changed', async () => {
    const ownSite = await openSite({ control: ({ storage }) => storage });
    const { storage, failedId } = ownSite.story;
    try {
      const order = storage.order({ name: 'ship-order', after: failedId });
      await storage.enqueuer.enqueue([order]);
      await page.goto(`${ownSite.url}/job-dashboard/jobs/${failedId}`);
      const restore = page.getByRole('checkbox', { name: /Also restore/ });
      expect(await restore.isChecked()).to.equal(true);
      await eventually(status, (text) => text?.startsWith('Live') === true);
      await restore.uncheck();
      await page.getByText('Paused while a form is open').waitFor();
    } finally {
      await ownSite.close();
    }
  });

  it('grows its charts and lists with the first job of a store', async () => {
    const storage = new MemoryStorage();
    const fresh = await openSite({ read: () => storage, now: Date.now });
    try {
      await page.goto(`${fresh.url}/job-dashboard/`);
      await page.getByText('Nothing has run yet').waitFor();
      expect(await page.locator('.panel').count()).to.equal(1);
      await new JobClient(storage).enqueue(defineJob({ name: 'first', args: Type.Object({}) }), {});
      await page.getByRole('heading', { name: 'Queues' }).waitFor();
      await page.getByText('No server is running.').waitFor();
      expect(await page.locator('figure').count()).to.equal(5);
    } finally {
      await fresh.close();
      await storage.close();
    }
  });

  it('revalidates what it has and gets 304 while nothing changes', async () => {
    const answers: number[] = [];
    page.on('response', (response) => {
      if (response.request().headers()['longshore-region'] !== undefined) answers.push(response.status());
    });
    await open('');
    await eventually(
      () => answers,
      () => answers.length >= 4,
    );
    expect(new Set(answers)).to.deep.equal(new Set([304]));
  });

  it('does not change while paused, and continues when resumed', async () => {
    let requests = 0;
    let answers = 0;
    page.on('request', () => (requests += 1));
    page.on('requestfinished', () => (answers += 1));
    page.on('requestfailed', () => (answers += 1));
    await open('');
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await eventually(
      () => [requests, answers],
      () => requests === answers,
    );
    requests = 0;
    await addJob();
    await eventually(status, (text) => shownAge(text) >= 3);
    expect([requests, await figure('Enqueued')]).to.deep.equal([0, '10']);
    expect(await status()).to.include('Paused');
    await page.getByRole('button', { name: 'Resume updates' }).click();
    await eventually(
      () => figure('Enqueued'),
      (count) => count === '11',
    );
  });

  it('does not change under selected text', async () => {
    await open('');
    await page.locator('.flow').evaluate((element) => document.getSelection()?.selectAllChildren(element));
    await addJob();
    const queues = page.getByRole('row', { name: /^default/ });
    await eventually(
      () => queues.textContent(),
      (text) => text?.includes('1') === true,
    );
    expect(await figure('Enqueued')).to.equal('10');
  });

  it('appends log lines as a job writes them', async () => {
    const { storage, processingId } = site.story;
    await open(`jobs/${processingId}`);
    const job = await storage.jobs.find(processingId);
    const claim = { jobId: processingId, queue: 'default', serverId: job?.serverId ?? '', attempt: 2 };
    const at = new Date(storage.manualClock.now());
    const line = { line: 99, at, level: 'info', message: 'Page 91 of 214', fields: null } as const;
    await storage.reports.report([{ claim, progress: { percent: 43, message: null, at }, lines: [line] }]);
    await page.locator('.log', { hasText: 'Page 91 of 214' }).waitFor();
    await page.locator('#progress', { hasText: '43 %' }).waitFor();
    expect(await page.locator('.log li time').count()).to.equal(7);
    expect(await page.locator('.log li', { hasText: 'Attempt 2' }).count()).to.equal(1);
  });

  it('shows its age while the server is gone, and recovers', async () => {
    await open('');
    await page.route('**/*', (route) => route.abort());
    await eventually(status, (text) => text?.includes('No response.') === true && shownAge(text) > 0);
    await page.unroute('**/*');
    await eventually(status, (text) => text?.startsWith('Live') === true);
  });

  it('keeps an opened stack trace open', async () => {
    await open(`jobs/${site.story.failedId}`);
    const second = page.locator('details').nth(1);
    await second.locator('summary').click();
    const answered = page.waitForResponse(
      (response) =>
        response.request().headers()['longshore-region']?.includes('job') === true &&
        response.status() === 200,
    );
    site.story.storage.manualClock.advance(1);
    await page
      .locator('.attempt')
      .first()
      .evaluate((element) => element.closest('[data-region]')?.setAttribute('data-etag', ''));
    await answered;
    expect(await second.evaluate((element) => element.hasAttribute('open'))).to.equal(true);
  });

  it('shows times by the server’s clock, not the viewer’s', async () => {
    const ended = page.getByRole('row', { name: 'send-receipt' }).locator('time');
    const minutesAgo = async (): Promise<number> => {
      await open('jobs?queue=mail&state=done');
      await eventually(status, (text) => shownAge(text) > 0);
      return Number(/(\d+) min ago/.exec((await ended.textContent()) ?? '')?.[1]);
    };
    const { result: minutes, from, until } = await during(minutesAgo);
    expect(minutes).to.be.within(11, 12 + (until.getTime() - from.getTime()) / 60_000);
  });

  it('keeps relative times up to date, and shows the viewer’s zone', async () => {
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    const tokyo = await context.newPage();
    await tokyo.goto(`${site.url}/job-dashboard/jobs/${site.story.doneId}`);
    expect(await tokyo.locator('.facts').textContent())
      .to.include('1 Mar 2026, 22:53:0')
      .and.include('9');
    await context.close();
  });

  it('takes times in the viewer’s zone, and says so', async () => {
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
    const tokyo = await context.newPage();
    await tokyo.goto(`${site.url}/job-dashboard/queues/mail`);
    const form = tokyo.locator('form', { has: tokyo.locator('[name=from]') });
    const from = () => form.locator('[name=from]').inputValue();
    const shown = await from();
    expect(shown).to.equal('2026-03-01T22:05'); // 13:05 in UTC
    await tokyo.getByText('Other times…').click();
    expect(await form.locator('label').first().textContent()).to.include('From, in Asia/Tokyo');
    await form.getByRole('button').click();
    await tokyo.waitForURL(/from=2026-03-01T22%3A05/);
    expect(await from()).to.equal(shown);
    await context.close();
  });

  it('shows the next times of a recurring job in the viewer’s zone too, unless it is the same', async () => {
    for (const [timezoneId, yours] of [
      ['Asia/Tokyo', 'In Asia/Tokyo, yours'],
      ['Europe/Berlin', null],
    ] as const) {
      const context = await browser.newContext({ timezoneId });
      const there = await context.newPage();
      await there.goto(`${site.url}/job-dashboard/recurring/${site.story.recurringId}`);
      const text = (await there.locator('.next').textContent()) ?? '';
      expect(text).to.include('Sun 1 Mar, 15:15 CET').and.not.include('In UTC');
      expect(text.includes('yours')).to.equal(yours !== null);
      if (yours !== null) expect(text).to.include(yours).and.include('Sun 1 Mar, 23:15');
      await context.close();
    }
  });

  it('groups audit entries by the viewer’s days, new ones too', async () => {
    const { storage } = site.story;
    const entry = { who: 'ada', target: 'mail', count: 1, action: 'queues/pause', filter: null };
    await storage.audit.record(entry);
    storage.manualClock.advance(3_600_000);
    await storage.audit.record(entry);
    // In Tokyo, the two entries are from 23:05 and 00:05.
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
    try {
      const distant = await context.newPage();
      await distant.goto(`${site.url}/job-dashboard/audit`);
      const times = () =>
        distant
          .locator('tbody tr')
          .evaluateAll((rows) => rows.map((row) => /\d+ March|\d\d:\d\d/.exec(row.textContent ?? '')?.[0]));
      expect(await times()).to.deep.equal(['2 March', '00:05', '1 March', '23:05']);
      storage.manualClock.advance(60_000);
      await storage.audit.record(entry);
      await eventually(times, (shown) => shown.includes('00:06'));
      expect(await times()).to.deep.equal(['2 March', '00:06', '00:05', '1 March', '23:05']);
    } finally {
      await context.close();
    }
  });
});
