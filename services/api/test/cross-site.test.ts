import { expect } from 'chai';
import { httpClient } from '@longshore/test-support';
import { readApiConfig } from '../src/config.js';
import { runApi, type RunningApi } from './support/running-api.js';

const open = { API_AUTH: 'none', API_ADMIN_KEY: '' };

describe('The embedded dashboard behind a proxy that passes on another Host', () => {
  for (const [what, environment, origin] of [
    ['the API', { API_BASE_URL: 'http://ops.example.com' }, 'http://ops.example.com'],
    [
      'its own',
      {
        API_BASE_URL: 'http://api.example.com',
        DASHBOARD_BASE_URL: 'http://ops.example.com/job-dashboard',
      },
      'http://ops.example.com',
    ],
  ] as const)
    it(`takes forms from its pages at the address of ${what}, and from no others`, async () => {
      const password = 'correct horse';
      const api = await runApi({
        ...environment,
        API_EMBEDDED_DASHBOARD: 'true',
        DASHBOARD_PASSWORD: password,
      });
      const { text } = await api.call('GET', '/job-dashboard');
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
      const signIn = async (from: string): Promise<number> => {
        const http = httpClient(api.url);
        const body = new URLSearchParams({ password, token }).toString();
        const headers = { origin: from, 'content-type': 'application/x-www-form-urlencoded' };
        return (await http.post('/job-dashboard/sign-in', body, { headers })).status;
      };
      const statuses = [await signIn(origin), await signIn('http://evil.example.com')];
      await api.stop();
      expect(statuses).to.deep.equal([303, 403]);
    });
});

describe('A page of another site', () => {
  const friend = 'https://app.example.com';
  let api: RunningApi;
  before(async () => {
    api = await runApi({
      ...open,
      API_BASE_URL: 'https://api.example.com',
      API_CORS_ORIGINS: `${friend}, http://localhost:3000`,
    });
  });
  after(() => api.stop());

  const post = (headers: Record<string, string>, path = '/test') => api.call('POST', path, { headers });
  const total = async (): Promise<unknown> =>
    (await api.call('GET', '/api/v1/jobs')).headers['x-total-count'];

  for (const [what, headers] of Object.entries({
    'by what the browser says': { 'sec-fetch-site': 'cross-site' },
    'on another port of this machine': { 'sec-fetch-site': 'same-site', origin: 'http://localhost:5000' },
    'by its origin alone': { origin: 'https://evil.example' },
    'of no origin': { origin: 'null' },
    'whose origin begins like an allowed one': { origin: `${friend}.evil.example` },
    'of an allowed host by another scheme': { origin: 'http://app.example.com' },
  })) {
    it(`cannot change anything (${what})`, async () => {
      const before = await total();
      for (const path of ['/test', '/api/v1/jobs']) {
        const answer = await post({ ...headers, 'content-type': 'text/plain' }, path);
        expect([answer.status, answer.text.includes('40302')]).to.deep.equal([403, true]);
        expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
      }
      expect(await total()).to.equal(before);
    });
  }

  for (const [what, headers] of Object.entries({
    'no browser': {},
    'a page of its own': { 'sec-fetch-site': 'same-origin', origin: 'https://api.example.com' },
    'an old browser at the address that a gateway has': { origin: 'https://api.example.com' },
    'an allowed page': { 'sec-fetch-site': 'cross-site', origin: friend },
    'an allowed page on another port': { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
  })) {
    it(`is not confused with ${what}`, async () => {
      expect((await post(headers)).status).to.equal(202);
    });
  }

  it('cannot read responses', async () => {
    const { status, headers } = await api.call('GET', '/api/v1/jobs', {
      headers: { origin: 'https://evil.example' },
    });
    expect([status, headers['access-control-allow-origin']]).to.deep.equal([200, undefined]);
    expect(headers['cross-origin-resource-policy']).to.equal('same-origin');
    expect(headers['vary']).to.contain('Origin');
  });

  it('that is allowed can read responses, errors and routes outside of /api', async () => {
    for (const path of ['/api/v1/jobs', '/api/v1/nothing', '/metrics', '/test']) {
      const { headers } = await api.call('GET', path, { headers: { origin: friend } });
      expect([path, headers['access-control-allow-origin']]).to.deep.equal([path, friend]);
      expect(headers['access-control-expose-headers']).to.contain('X-Total-Count');
      expect(headers).not.to.have.property('access-control-allow-credentials');
    }
  });

  for (const path of ['/api/v1/jobs', '/test']) {
    it(`that is allowed learns from a preflight what it may send to ${path}; others learn nothing`, async () => {
      const preflight = (origin: string) =>
        api.call('OPTIONS', path, {
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'x-api-key',
          },
        });
      const { status, headers } = await preflight(friend);
      expect(status).to.be.within(200, 204);
      expect(headers['access-control-allow-origin']).to.equal(friend);
      expect(headers['access-control-allow-methods']).to.contain('POST');
      expect(headers['access-control-allow-headers']).to.contain('X-Api-Key').and.contain('Authorization');
      expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).to.equal(
        undefined,
      );
    });
  }
});

describe('A body that is not JSON', () => {
  it('reaches no route, POST /test included', async () => {
    const api = await runApi(open);
    const client = httpClient(api.url);
    const statuses = [];
    for (const path of ['/test', '/api/v1/jobs'])
      for (const type of [
        'content-type: text/plain\r\n',
        'content-type: application/x-www-form-urlencoded\r\n',
        '',
      ]) {
        const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${type}content-length: 2\r\n\r\n{}`;
        statuses.push((await client.raw(head)).slice(9, 12));
      }
    await api.stop();
    expect(new Set(statuses)).to.deep.equal(new Set(['415']));
  });
});

describe('API_CORS_ORIGINS', () => {
  const read = (API_CORS_ORIGINS: string) => readApiConfig({ API_STORAGE: 'memory', API_CORS_ORIGINS });

  for (const origins of [
    '*',
    'https://*.example.com',
    'https://app.example.com/',
    'app.example.com',
    'null',
  ]) {
    it(`rejects ${origins}, which is not an origin`, () => {
      expect(() => read(origins)).to.throw('API_CORS_ORIGINS');
    });
  }

  it('accepts several origins, with ports', () => {
    expect(() => read('https://app.example.com, http://localhost:3000,http://[::1]:3000')).not.to.throw();
  });
});
