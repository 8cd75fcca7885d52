import { expect } from 'chai';
import type { HttpResponse } from '@longshore/test-support';
import { openSite, pagePaths, type Site } from './dashboard-site.js';

const password = 'correct horse';

describe('a dashboard with a password', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ production: true, password });
  });
  afterEach(() => site.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    site.http.get(`/job-dashboard${path}`, { headers });
  const field = (page: HttpResponse, name: string): string =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? '';
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    site.http.post(`/job-dashboard${path}`, new URLSearchParams(form).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const signIn = async (typed = password, next = ''): Promise<HttpResponse> =>
    post('/sign-in', { password: typed, next, token: field(await get('/'), 'token') });
  const cookieOf = ({ headers }: HttpResponse): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  it('requires it on every page', async () => {
    for (const path of pagePaths(site.story)) {
      const answer = await get(path);
      expect([path, answer.status, field(answer, 'token') !== '']).to.deep.equal([path, 401, true]);
      expect(answer.headers['www-authenticate']).to.match(/^Session /);
      expect(answer.text).not.to.include('charge-card');
    }
  });

  it('starts a session and redirects to the requested page', async () => {
    const page = await get('/jobs?state=failed');
    const answer = await post('/sign-in', {
      password,
      next: field(page, 'next'),
      token: field(page, 'token'),
    });
    expect([answer.status, answer.headers.location]).to.deep.equal([303, './jobs?state=failed']);
    expect((await get('/', { cookie: cookieOf(answer) })).status).to.equal(200);
  });

  it('keeps the session in a host-only cookie without a path, so that a gateway’s prefix does not matter', async () => {
    const cookie = (await signIn()).headers['set-cookie']?.[0] ?? '';
    expect(cookie)
      .to.match(/^longshore_dashboard=/)
      .and.match(/httponly/i)
      .and.match(/samesite=lax/i);
    expect(cookie)
      .not.to.match(/path=/i)
      .and.not.match(/domain=/i);
  });

  it('rejects a wrong password', async () => {
    const answer = await signIn('correct hors');
    expect([answer.status, answer.headers['set-cookie']]).to.deep.equal([401, undefined]);
    expect(answer.text).to.include('Wrong password.');
  });

  for (const next of [
    'https://example.com/',
    '//example.com',
    '/\\example.com',
    'javascript:alert(1)',
    '../../elsewhere',
    'http://',
    '\r\nX-Evil: 1',
  ]) {
    it(`never redirects to another site: ${JSON.stringify(next)}`, async () => {
      const { status, headers } = await signIn(password, next);
      expect(status).to.equal(303);
      const target = new URL(headers.location ?? '', 'http://dashboard.test/job-dashboard/sign-in');
      expect(target.href).to.match(/^http:\/\/dashboard\.test\/job-dashboard\//);
    });
  }

  for (const [what, form, headers] of [
    ['without its token', { password, token: '' }, {}],
    ['with a forged token', { password, token: `00.9999999999999.${'A'.repeat(43)}` }, {}],
  ] as const) {
    it(`rejects the form ${what}`, async () => {
      expect((await post('/sign-in', form, headers)).status).to.equal(403);
    });
  }

  for (const [what, headers] of [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['another origin, sent by an old browser', { origin: 'https://example.com' }],
    ['an opaque origin', { origin: 'null' }],
  ] as const) {
    it(`rejects the form when sent from ${what}`, async () => {
      const token = field(await get('/'), 'token');
      expect((await post('/sign-in', { password, token }, headers)).status).to.equal(403);
    });
  }

  it('accepts the form from its own origin', async () => {
    const token = field(await get('/'), 'token');
    const answer = await post('/sign-in', { password, token }, { origin: site.url });
    expect(answer.status).to.equal(303);
  });

  it('rejects sessions of others', async () => {
    const cookie = cookieOf(await signIn());
    const forged = [
      cookie.slice(0, -1) + (cookie.endsWith('A') ? 'B' : 'A'),
      `longshore_dashboard=`,
      cookie.replace(/\.\d+\./, '.9999999999999.'),
    ];
    for (const candidate of forged)
      expect((await get('/', { cookie: candidate })).status, candidate).to.equal(401);
  });

  it('does not accept a form token as a session', async () => {
    const cookie = `longshore_dashboard=${field(await get('/'), 'token')}`;
    expect((await get('/', { cookie })).status).to.equal(401);
  });

  it('ends a session after 12 hours', async () => {
    const cookie = cookieOf(await signIn());
    site.story.storage.manualClock.advance(12 * 3_600_000 - 1);
    expect((await get('/', { cookie })).status).to.equal(200);
    site.story.storage.manualClock.advance(1);
    expect((await get('/', { cookie })).status).to.equal(401);
  });

  it('shares its sessions with other processes that have the same password, and with no others', async () => {
    const cookie = cookieOf(await signIn());
    for (const [credentials, status] of [
      [password, 200],
      ['another', 401],
    ] as const) {
      const twin = await openSite({ production: true, password: credentials });
      try {
        expect((await twin.http.get('/job-dashboard/', { headers: { cookie } })).status).to.equal(status);
      } finally {
        await twin.close();
      }
    }
  });

  it('signs out with the session’s own token only', async () => {
    const cookie = cookieOf(await signIn());
    const token = field(await get('/', { cookie }), 'token');
    const foreign = field(await get('/', { cookie: cookieOf(await signIn()) }), 'token');
    expect((await post('/sign-out', { token: foreign }, { cookie })).status).to.equal(403);
    const answer = await post('/sign-out', { token }, { cookie });
    expect([answer.status, cookieOf(answer)]).to.deep.equal([303, 'longshore_dashboard=']);
  });

  it('accepts the password by HTTP Basic authentication, with the user name as the viewer’s', async () => {
    const answer = await get('/', basic(`ada:${password}`));
    expect(answer.status).to.equal(200);
    expect(answer.text).to.include('<b>ada</b>');
  });

  for (const credentials of ['ada:wrong', password, ':', `ada:${password} `]) {
    it(`rejects ${JSON.stringify(credentials)} by HTTP Basic authentication`, async () => {
      expect((await get('/', basic(credentials))).status).to.equal(401);
    });
  }

  it('returns 429 for the rest of a minute after ten wrong passwords, and still accepts the right one', async () => {
    for (let tried = 0; tried < 10; tried += 1) expect((await signIn('wrong')).status).to.equal(401);
    const answer = await signIn('wrong');
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([429, '60']);
    expect((await signIn()).status).to.equal(303);
    expect((await get('/', basic(`ada:${password}`))).status).to.equal(200);
    site.story.storage.manualClock.advance(60_000);
    expect((await signIn('wrong')).status).to.equal(401);
  });

  it('returns 429 for wrong Basic credentials after ten, too', async () => {
    for (let tried = 0; tried < 10; tried += 1)
      expect((await get('/', basic('ada:wrong'))).status).to.equal(401);
    const answer = await get('/', basic('ada:wrong'));
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([429, '60']);
  });

  it('checks no passwords for the rest of a minute after a hundred wrong ones', async () => {
    for (let tried = 0; tried < 100; tried += 1) await get('/', basic('ada:wrong'));
    expect((await signIn()).status).to.equal(429);
    site.story.storage.manualClock.advance(60_000);
    expect((await signIn()).status).to.equal(303);
  });

  it('distinguishes clients behind a trusted proxy', async () => {
    const behind = await openSite({ production: true, password, proxy: true });
    try {
      const from = (address: string, typed: string) =>
        behind.http.get('/job-dashboard/', {
          headers: { ...basic(`ada:${typed}`), 'x-forwarded-for': address },
        });
      for (let tried = 0; tried < 100; tried += 1) await from('192.0.2.1', 'wrong');
      expect((await from('192.0.2.1', password)).status).to.equal(429);
      expect((await from('192.0.2.2', password)).status).to.equal(200);
    } finally {
      await behind.close();
    }
  });

  it('keeps the session in a secure cookie behind a proxy that terminates TLS', async () => {
    const behind = await openSite({ production: true, password, proxy: true });
    try {
      const https = { 'x-forwarded-proto': 'https' };
      const token = field(await behind.http.get('/job-dashboard/', { headers: https }), 'token');
      const answer = await behind.http.post(
        '/job-dashboard/sign-in',
        new URLSearchParams({ password, token }).toString(),
        { headers: { ...https, 'content-type': 'application/x-www-form-urlencoded' } },
      );
      expect(answer.headers['set-cookie']?.[0]).to.match(/^__Secure-longshore_dashboard=.*; secure/i);
      const cookie = cookieOf(answer);
      expect((await behind.http.get('/job-dashboard/', { headers: { ...https, cookie } })).status).to.equal(
        200,
      );
      const plain = cookie.replace('__Secure-', '');
      expect(
        (await behind.http.get('/job-dashboard/', { headers: { ...https, cookie: plain } })).status,
      ).to.equal(401);
    } finally {
      await behind.close();
    }
  });

  it('rejects a session that was signed out', async () => {
    const cookie = cookieOf(await signIn());
    await post('/sign-out', { token: field(await get('/', { cookie }), 'token') }, { cookie });
    expect((await get('/', { cookie })).status).to.equal(401);
  });

  for (const [path, next] of [
    ['/jobs/x/retry', 'jobs/x'],
    ['/bulk-delete', ''],
    ['/queues/a%2Fb/pause', 'queues/a%2Fb'],
  ] as const) {
    it(`redirects to the parent page if the session ended before POST ${path}`, async () => {
      const answer = await post(path, {});
      expect([answer.status, field(answer, 'next')]).to.deep.equal([401, next]);
    });
  }

  it('rejects forms larger than 8 kB', async () => {
    expect((await post('/sign-in', { password: 'x'.repeat(9_000) })).status).to.equal(413);
  });

  it('redirects from the sign-in page’s own address to the overview', async () => {
    const { status, headers } = await get('/sign-in');
    expect([status, headers.location]).to.deep.equal([303, './']);
  });
});
