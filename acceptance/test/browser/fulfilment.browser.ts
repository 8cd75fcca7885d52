import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '@longshore/test-support/chromium';
import { getJson } from '../system/jobs.js';
import { useSystem } from '../system/system.js';

describe('an order of the example shop, which is fulfilled in steps', () => {
  const system = useSystem({ API_SEED_ROWS: '50' });
  let browser: Browser;
  let page: Page;
  let api: string;
  let dashboard: string;

  before(async () => {
    const [service, pages] = await Promise.all([
      system().start('api'),
      system().start('dashboard'),
      system().start('worker'),
    ]);
    api = `${service.url}/api/v1`;
    dashboard = `${pages.url}/job-dashboard`;
    browser = await launchChromium();
    page = await browser.newPage();
  });
  after(() => browser.close());

  const send = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { 'content-type': 'application/json', prefer: 'respond-async' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };

  /** Places and pays an order, has it fulfilled, and opens the page of its job. Returns the order's id. */
  const fulfilled = async (price: number): Promise<string> => {
    const [customer] = await getJson<{ id: string }[]>(`${api}/customers`);
    const [store] = await getJson<{ id: string }[]>(`${api}/stores`);
    const order = { storeId: store?.id, address: 'Quay 1' };
    const placed = await send('POST', `/customers/${customer?.id}/orders`, order);
    const { id } = (await placed.json()) as { id: string };
    await send('POST', `/orders/${id}/lineitems`, { product: 'Rope', quantity: 1, price });
    await send('PUT', `/orders/${id}/pay`);
    const { headers } = await send('PUT', `/orders/${id}/fulfil`);
    await page.goto(`${dashboard}/jobs/${(headers.get('location') ?? '').split('/').at(-1)}`);
    return id;
  };

  /** Waits until the page, which refreshes itself, says that the job waits for a signal, and sends it with its button. */
  const sendSignal = async (name: string, data: object, reason: string): Promise<void> => {
    await page.getByText(`It waits for the signal “${name}”`).waitFor();
    const button = page.locator('details.act', { has: page.getByText(`Send signal ${name}…`) });
    await button.locator('summary').first().click();
    await button.getByLabel('Data, as JSON').fill(JSON.stringify(data));
    await button.getByLabel(/^Reason/).fill(reason);
    await button.getByRole('button', { name: 'Send signal' }).click();
    await page.getByText('The signal has been sent.').waitFor();
  };

  const summary = () => page.getByRole('region', { name: 'State' });
  const statusOf = async (orderId: string): Promise<string> =>
    (await getJson<{ status: string }>(`${api}/orders/${orderId}`)).status;

  it('waits for its parcel, and is shipped when an operator sends the signal', async () => {
    const id = await fulfilled(20);
    await sendSignal('parcel', { tracking: 'SL-1' }, 'scanned by hand');
    await summary().getByRole('heading', { name: 'Done' }).waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    const headings = await steps.getByRole('heading', { level: 3 }).allInnerTexts();
    expect(headings.map((text) => text.replaceAll(/\s+/g, ' '))).to.deep.equal([
      'read the order Done',
      'parcel Done',
      'ship the order Done',
    ]);
    expect(await statusOf(id)).to.equal('shipped');
  });

  it('is refunded after an approval if its parcel is lost', async () => {
    const id = await fulfilled(200);
    await sendSignal('parcel', { lost: true }, 'lost at sea');
    await sendSignal('approval', { approved: true }, 'the customer has waited long enough');
    await summary().getByRole('heading', { name: 'Done' }).waitFor();
    const steps = page.getByRole('region', { name: 'Steps' });
    expect(await steps.getByText('refund the order').first().isVisible()).to.equal(true);
    expect(await statusOf(id)).to.be.oneOf(['refunding', 'refunded']);
  });
});
