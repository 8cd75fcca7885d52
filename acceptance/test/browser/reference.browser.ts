import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '@longshore/test-support/chromium';
import { useSystem } from '../system/system.js';

describe('a caller with a browser', () => {
  const system = useSystem();
  let browser: Browser;
  let page: Page;
  let api: string;
  const hosts = new Set<string>();
  const errors: string[] = [];

  before(async () => {
    ({ url: api } = await system().start('api'));
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${api}/api/v1/docs#tag/jobs/GET/jobs`);
  });
  after(() => browser.close());

  it('reads how to list jobs, with a sample for curl', async () => {
    await page.getByRole('heading', { name: 'List jobs' }).first().waitFor();
    await page.getByText('curl', { exact: false }).first().waitFor();
  });

  it('tries the request and sees the answer', async () => {
    const answered = page.waitForResponse(`${api}/api/v1/jobs`);
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByRole('button', { name: /^Send/ }).first().click();
    expect((await answered).status()).to.equal(200);
    await page.getByText('200 OK').first().waitFor();
  });

  it('reads it again on a second visit', async () => {
    await page.goto(`${api}/api/v1`);
    await page.goto(`${api}/api/v1/docs#tag/jobs/GET/jobs`);
    await page.getByRole('heading', { name: 'List jobs' }).first().waitFor();
  });

  it('asks no other host, and breaks no rule of the page', () => {
    expect([...hosts].filter((host) => host !== '' && host !== new URL(api).host)).to.deep.equal([]);
    expect(errors).to.deep.equal([]);
  });
});
