import { expect } from 'chai';
import { httpClient } from '@longshore/test-support';
import { readApiConfig } from '../src/config.js';
import { runApi, type RunningApi } from './support/running-api.js';

const open = { API_AUTH: 'none', API_ADMIN_KEY: '' };
const local = { API_AUTH: '', API_ADMIN_KEY: '' };
const greet = { name: 'greet', args: { name: 'Ada' } };

/** Returns the status of a request with the given `Host` header. */
const statusFor = async (api: RunningApi, host: string, path = '/api/v1/jobs'): Promise<number> =>
  (await api.call('GET', path, { headers: { host } })).status;

describe('An open api', () => {
  let api: RunningApi;
  before(async () => {
    api = await runApi({
      ...open,
      API_BASE_URL: 'https://api.example.com/base',
      HTTP_ALLOWED_HOSTS: 'Longshore, api.internal',
      API_PATH_PREFIX: '/platform',
    });
  });
  after(() => api.stop());

  for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1:8080', '[::1]:8080']) {
    it(`responds to the loopback host ${host}`, async () => {
      expect(await statusFor(api, host)).to.equal(200);
    });
  }

  for (const host of ['api.example.com', 'API.example.com:443', 'longshore:8080', 'api.internal']) {
    it(`responds to the configured host ${host}`, async () => {
      expect(await statusFor(api, host)).to.equal(200);
    });
  }

  for (const host of [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    '10.0.0.1',
  ]) {
    it(`rejects the host "${host}"`, async () => {
      for (const path of ['/api/v1/jobs', '/api/v1/openapi.json', '/errors/40401', '/nothing']) {
        expect([path, await api.codes('GET', path, { headers: { host } })]).to.deep.equal([path, [42101]]);
      }
    });
  }

  for (const header of ['', 'Host:\r\n']) {
    it(`rejects a request ${header === '' ? 'without a host' : 'with an empty host'}`, async () => {
      const answer = await httpClient(api.url).raw(`GET /api/v1/jobs HTTP/1.0\r\n${header}\r\n`);
      expect(answer).to.match(/^HTTP\/1\.1 421 /);
      expect(answer).to.contain('The request has no Host header').and.not.contain('HTTP_ALLOWED_HOSTS');
    });
  }

  it('enqueues nothing for a foreign host, and says what to do', async () => {
    const answer = await api.call('POST', '/test', { headers: { host: 'evil.example' } });
    expect(answer.status).to.equal(421);
    expect(answer.text).to.contain('HTTP_ALLOWED_HOSTS').and.contain('evil.example');
    expect((await api.call('GET', '/api/v1/jobs')).json()).to.deep.equal([]);
  });

  for (const path of ['/healthz', '/readyz', '/platform/healthz']) {
    it(`responds to probes of ${path} with any host`, async () => {
      expect(await statusFor(api, 'whatever.internal', path)).to.equal(200);
    });
  }

  it('responds to scrapers of /metrics with an address as host, not with a foreign name', async () => {
    expect(await statusFor(api, '10.0.0.1:8080', '/metrics')).to.equal(200);
    expect(await statusFor(api, '[fd00::1]:8080', '/metrics')).to.equal(200);
    expect(await statusFor(api, 'evil.example', '/metrics')).to.equal(421);
  });

  it('accepts requests that came through a proxy', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect((await api.call('GET', '/api/v1/jobs', { headers })).status).to.equal(200);
  });
});

describe('An api without configured access', () => {
  let api: RunningApi;
  before(async () => (api = await runApi(local)));
  after(() => api.stop());

  it('serves clients on its own machine', async () => {
    expect((await api.call('POST', '/api/v1/jobs', { json: greet })).status).to.equal(201);
  });

  it('rejects a foreign host', async () => {
    expect(await statusFor(api, 'evil.example')).to.equal(421);
  });

  for (const name of [
    'x-forwarded-for',
    'x-forwarded-host',
    'forwarded',
    'via',
    'x-real-ip',
    'cf-connecting-ip',
  ]) {
    it(`rejects a request with ${name}, and says what to set`, async () => {
      const answer = await api.call('GET', '/api/v1/jobs', { headers: { [name]: '127.0.0.1' } });
      expect([answer.status, answer.text.includes('API_AUTH=keys')]).to.deep.equal([403, true]);
    });
  }

  it('rejects HTTP/1.0, which is used by proxies that do not name the client', async () => {
    const answer = await httpClient(api.url).raw('GET /api/v1/jobs HTTP/1.0\r\nHost: localhost\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1\.1 403 /);
  });
});

describe('An api that requires credentials', () => {
  it('responds to any host, because no page can know the credentials', async () => {
    const api = await runApi();
    const codes = await api.codes('GET', '/api/v1/jobs', { headers: { host: 'longshore-api.prod' } });
    await api.stop();
    expect(codes).to.deep.equal([40101]);
  });

  it('responds only to HTTP_ALLOWED_HOSTS if they are set', async () => {
    const api = await runApi({ HTTP_ALLOWED_HOSTS: 'longshore-api.prod' });
    const of = (host: string) => api.codes('GET', '/api/v1/jobs', { headers: { host } });
    const codes = [await of('longshore-api.prod'), await of('evil.example')];
    await api.stop();
    expect(codes).to.deep.equal([[40101], [42101]]);
  });
});

describe('HTTP_ALLOWED_HOSTS', () => {
  for (const hosts of ['*', 'https://example.com', 'example.com:8080', 'a b']) {
    it(`rejects ${hosts}, which is not a host name`, () => {
      expect(() => readApiConfig({ API_STORAGE: 'memory', HTTP_ALLOWED_HOSTS: hosts })).to.throw(
        'HTTP_ALLOWED_HOSTS',
      );
    });
  }
});
