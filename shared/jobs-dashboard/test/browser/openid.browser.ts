import type { RequestListener } from 'node:http';
import { patientStorage, serve, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import Provider from 'oidc-provider';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type AccessRecord, createDashboard } from '../../src/index.js';
import { listenerOf } from '../dashboard-site.js';
import { seedStory, type Story } from '../story.js';
import { launchChromium } from '@longshore/test-support/chromium';

/** The groups of the provider's users, by login name. */
const groups: Readonly<Record<string, readonly string[]>> = {
  ann: ['sre', 'office'],
  bob: ['developers'],
  eve: [],
};

/**
 * Starts a server without a listener. The caller sets the listener later, because the listener needs the server's URL.
 */
async function serveLater(): Promise<TestServer & { listener: RequestListener }> {
  const later = { listener: (() => undefined) as RequestListener };
  const server = await serve((request, response) => later.listener(request, response));
  return Object.assign(later, server);
}

describe('signing in with OpenID Connect', () => {
  let browser: Browser;
  let story: Story;
  let dashboard: Awaited<ReturnType<typeof serveLater>>;
  let issuer: Awaited<ReturnType<typeof serveLater>>;
  let context: BrowserContext;
  let page: Page;
  const records: AccessRecord[] = [];

  before(async () => {
    browser = await launchChromium();
    story = await seedStory();
    [dashboard, issuer] = [await serveLater(), await serveLater()];
    const provider = new Provider(issuer.url, {
      clients: [
        {
          client_id: 'dashboard',
          client_secret: 'a secret of the dashboard',
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [`${dashboard.url}/job-dashboard/signed-in`],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'groups'] },
      pkce: { required: () => true },
      findAccount: (_ctx, accountId) => ({
        accountId,
        claims: () => ({
          sub: accountId,
          email: `${accountId}@example.com`,
          groups: [...(groups[accountId] ?? [])],
        }),
      }),
    });
    const handle = provider.callback();
    issuer.listener = (request, response) => void handle(request, response);
    const app = new Koa();
    app.use(
      createDashboard({
        storage: story.storage,
        control: story.storage,
        readTimeoutMs: patientStorage.readTimeoutMs,
        production: true,
        onAccess: (record) => records.push(record),
        openId: {
          issuer: issuer.url,
          clientId: 'dashboard',
          clientSecret: 'a secret of the dashboard',
          baseUrl: `${dashboard.url}/job-dashboard`,
          roleClaim: 'groups',
          roles: { sre: 'admin', developers: 'operator' },
        },
      }),
    );
    dashboard.listener = listenerOf(app);
  });
  after(async () => {
    await browser.close();
    await Promise.all([dashboard.close(), issuer.close()]);
    await story.storage.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const signIn = async (login: string, path = ''): Promise<void> => {
    await page.goto(`${dashboard.url}/job-dashboard/${path}`);
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    await page.getByPlaceholder('Enter any login').fill(login);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  it('opens the requested page, with the name and the role from the provider’s claims', async () => {
    await signIn('ann', 'jobs?state=failed');
    await page.waitForURL(`${dashboard.url}/job-dashboard/jobs?state=failed`);
    expect(await page.locator('.who').innerText()).to.match(/ann@example\.com\s+admin/);
  });

  it('maps other groups to other roles', async () => {
    await signIn('bob');
    await page.waitForURL(`${dashboard.url}/job-dashboard/`);
    expect(await page.locator('.who .role').innerText()).to.equal('operator');
  });

  it('refuses people without a role, and shows who they are', async () => {
    await signIn('eve');
    await page.waitForSelector('text=You have no access to this dashboard');
    expect(await page.locator('main').innerText()).to.include('eve@example.com');
  });

  it('records a failed sign-in once', async () => {
    records.splice(0);
    await signIn('eve');
    await page.waitForSelector('text=You have no access to this dashboard');
    expect(records.map(({ event }) => event)).to.deep.equal(['sign-in failed']);
  });

  it('ends with signing out', async () => {
    await signIn('ann');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('text=Continue with single sign-on');
    expect((await page.goto(`${dashboard.url}/job-dashboard/jobs`))?.status()).to.equal(401);
  });

  it('rejects a response that this browser did not request', async () => {
    const forged = await page.goto(`${dashboard.url}/job-dashboard/signed-in?code=abc&state=def`);
    expect(forged?.status()).to.equal(401);
    await page.goto(`${dashboard.url}/job-dashboard/`);
    const started = page.waitForRequest((request) => request.url().startsWith(`${issuer.url}/auth?`));
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    const asked = new URL((await started).url()).searchParams;
    expect(asked.get('code_challenge_method')).to.equal('S256');
    const other = await page.goto(`${dashboard.url}/job-dashboard/signed-in?code=abc&state=another`);
    expect(other?.status()).to.equal(401);
  });

  it('shows that the provider refused', async () => {
    await page.goto(`${dashboard.url}/job-dashboard/`);
    const started = page.waitForRequest((request) => request.url().startsWith(`${issuer.url}/auth?`));
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    const state = new URL((await started).url()).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ state, error: 'access_denied', error_description: 'Not today' });
    const answer = await page.goto(`${dashboard.url}/job-dashboard/signed-in?${query.toString()}`);
    expect(answer?.status()).to.equal(403);
    expect(await page.locator('main').innerText()).to.include('Not today');
  });
});
