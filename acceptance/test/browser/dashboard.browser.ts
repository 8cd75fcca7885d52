import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '@longshore/test-support/chromium';
import { type ControllableJobs, createControllableJobs } from '../system/held-job.js';
import { enqueue } from '../system/jobs.js';
import { useSystem } from '../system/system.js';

describe('an operator with a browser', () => {
  const system = useSystem();
  let held: ControllableJobs;
  let browser: Browser;
  let page: Page;
  let dashboard: string;
  let location: string;

  before(async () => {
    held = await createControllableJobs();
    const env = { LONGSHORE_APP: held.application };
    const [api, service] = await Promise.all([
      system().start('api', env),
      system().start('dashboard', env),
      system().start('worker', env),
    ]);
    dashboard = `${service.url}/job-dashboard`;
    browser = await launchChromium();
    page = await browser.newPage();
    location = await enqueue(api.url, 'held');
  });
  after(async () => {
    await browser.close();
    await held.remove();
  });

  it('sees the job processing, on its one running server', async () => {
    await page.goto(`${dashboard}/jobs?state=processing`);
    await page.getByRole('link', { name: 'held', exact: true }).waitFor();
    await page.goto(`${dashboard}/servers`);
    expect(await page.getByText(/, process \d+/).count()).to.equal(1);
  });

  it('sees the same job become done, with its result, without reloading the page', async () => {
    await page.goto(`${dashboard}/jobs/${location.split('/').at(-1)}`);
    await page.getByText('Running').first().waitFor();
    await held.finish();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    expect(await page.getByText('"held"').first().isVisible()).to.equal(true);
  });
});
