import { expect } from 'chai';
import { chromium, type Browser, type Page } from 'playwright-core';
import { postTest } from '../system/jobs.js';
import { useSystem } from '../system/system.js';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const quiet = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

describe('an operator with a browser', () => {
  const system = useSystem({ API_TEST_JOB_MS: '4000' });
  let browser: Browser;
  let page: Page;
  let dashboard: string;
  let location: string;

  before(async () => {
    const [api, service] = await Promise.all([
      system().start('api'),
      system().start('dashboard'),
      system().start('worker'),
    ]);
    dashboard = `${service.url}/job-dashboard`;
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
    page = await browser.newPage();
    ({ location } = await postTest(api.url));
  });
  after(() => browser.close());

  it('sees the job processing, on its one running server', async () => {
    await page.goto(`${dashboard}/jobs?state=processing`);
    await page.getByRole('link', { name: 'test', exact: true }).waitFor();
    await page.goto(`${dashboard}/servers`);
    expect(await page.getByText(/, process \d+/).count()).to.equal(1);
  });

  it('sees the same job become done, with its result, without reloading the page', async () => {
    await page.goto(`${dashboard}/jobs/${location.split('/').at(-1)}`);
    await page.getByText('Processing').first().waitFor();
    await page.getByRole('heading', { name: 'Result' }).waitFor({ timeout: 15_000 });
    expect(await page.getByText('waitedMs').first().isVisible()).to.equal(true);
  });
});
