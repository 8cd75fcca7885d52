import { createHash } from 'node:crypto';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey, runApi, type RunningApi } from './support/running-api.js';

describe('An api that requires credentials', () => {
  let api: RunningApi;
  before(async () => (api = await runApi({ API_PATH_PREFIX: '/platform' })));
  after(() => api.stop());

  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/errors/40101',
    '/api/v1/openapi.json',
    '/api/v1/docs',
  ]) {
    it(`leaves ${path} open`, async () => {
      expect((await api.call('GET', path)).status).to.equal(200);
    });
  }

  for (const path of [
    '/metrics/',
    '/METRICS',
    '/%6detrics',
    '//metrics',
    '/./metrics',
    '/platform/metrics/',
  ]) {
    it(`does not treat ${path} as /metrics, which a gateway may hide`, async () => {
      expect(await api.codes('GET', path)).to.deep.equal([40401]);
    });
  }

  // Probes and gateways name them exactly (ADR 44).
  for (const path of ['/HEALTHZ', '/Healthz', '/READYZ', '/readyz/'])
    it(`does not treat ${path} as a probe`, async () => {
      expect(await api.codes('GET', path)).to.deep.equal([40401]);
    });

  for (const path of ['/TEST', '/Test'])
    it(`enqueues a job at POST ${path} as at /test`, async () => {
      const { status, text, headers } = await api.call('POST', path, { token: adminKey });
      expect([status, text]).to.deep.equal([202, 'ok']);
      expect(headers['location']).to.match(/\/api\/v1\/jobs\/[\da-f-]{36}$/);
    });

  for (const [method, path, allow] of [
    ['GET', '/test', 'POST'],
    ['POST', '/healthz', 'HEAD, GET'],
  ] as const) {
    it(`${method} ${path} is 405 and lists the allowed methods`, async () => {
      const answer = await api.call(method, path);
      expect([answer.status, answer.headers['allow']]).to.deep.equal([405, allow]);
      expect(await api.codes(method, path)).to.deep.equal([40501]);
    });
  }

  for (const [what, headers] of Object.entries({
    'another scheme': { authorization: 'Basic YTpi' },
    'no token': { authorization: 'Bearer ' },
    'a token of no kind': { authorization: 'Bearer abc' },
    'a JWT, where only keys are accepted': { authorization: 'Bearer a.b.c' },
    'two kinds at once': { authorization: `Bearer ${adminKey}`, 'x-api-key': adminKey },
  })) {
    it(`rejects ${what}`, async () => {
      expect(await api.codes('GET', '/api/v1/jobs', { headers })).to.deep.equal([40101]);
    });
  }

  it('POST /test with an Idempotency-Key enqueues one job per caller, however often it is repeated', async () => {
    const other = await api.makeKey({ scopes: ['write'] });
    const register = async (token: string) => {
      const answer = await api.call('POST', '/test', { token, headers: { 'idempotency-key': 'once' } });
      const { location, 'idempotent-replayed': replayed } = answer.headers;
      return { status: answer.status, location, replayed };
    };
    const first = await register(adminKey);
    expect(first.replayed).to.equal(undefined);
    expect(await register(adminKey)).to.deep.equal({ ...first, replayed: 'true' });
    expect((await register(other.token)).location).to.not.equal(first.location);
  });

  it('POST /test takes no parameters', async () => {
    expect(await api.codes('POST', '/test?x=1', { token: adminKey })).to.deep.equal([40002]);
  });

  it('limits the requests of a key, and says so', async () => {
    const { headers } = await api.call('GET', '/api/v1/jobs', { token: adminKey });
    expect(headers['ratelimit-policy']).to.equal('"default";q=2000;w=2');
  });

  it('writes no key to its log or its responses', async () => {
    const { token, id } = await api.makeKey({ scopes: ['read'] });
    const texts: string[] = [];
    for (const [method, path] of [
      ['GET', '/api/v1/jobs'],
      ['POST', '/api/v1/jobs'],
      ['GET', `/api/v1/jobs/${token}`],
      ['GET', '/api/v1/jobs?limit=x'],
      ['POST', '/test'],
    ] as const) {
      const answers = [
        await api.call(method, path, { token }),
        await api.call(method, path, { token: `${token}0` }),
        await api.call(method, path, { headers: { authorization: `Basic ${token}` } }),
      ];
      if (!path.includes(token)) texts.push(...answers.map(({ text }) => text));
    }
    const written = [...texts, api.log(), (await api.call('GET', '/api/v1/openapi.json')).text].join();
    const secret = token.slice(`lsk_${id}_`.length);
    expect(written).not.to.contain(secret).and.not.contain(adminKey);
  });
});

describe('The admin key', () => {
  it('may be configured as its hash', async () => {
    const hash = createHash('sha256').update('known-to-its-bearer-alone-and-long').digest('hex');
    const api = await runApi({ API_ADMIN_KEY: `sha256:${hash}` });
    const statuses = [];
    for (const token of ['known-to-its-bearer-alone-and-long', `sha256:${hash}`])
      statuses.push((await api.call('GET', '/api/v1/api-keys', { token })).status);
    await api.stop();
    expect(statuses).to.deep.equal([200, 401]);
  });
});

describe('HTTP_TRUSTED_PROXIES', () => {
  /**
   * Sends one request from each of 40 clients at once through one proxy. Returns the distinct statuses. The limit is
   * one request per second.
   */
  const statusesWith = async (proxies: string): Promise<Set<number>> => {
    const limits = {
      API_RATE_LIMIT_PER_SECOND: '1',
      API_RATE_LIMIT_BURST: '1',
      HTTP_TRUSTED_PROXIES: proxies,
    };
    const api = await runApi({ API_AUTH: 'none', API_ADMIN_KEY: '', ...limits });
    const from = (address: string) =>
      api.call('GET', '/api/v1/jobs', { headers: { 'x-forwarded-for': `6.6.6.6, ${address}` } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => from(`192.0.2.${n}`)));
    await api.stop();
    return new Set(answers.map(({ status }) => status));
  };

  it('distinguishes clients behind a proxy', async () => {
    expect(await statusesWith('1')).to.deep.equal(new Set([200]));
  });

  it('ignores the headers if it is 0', async () => {
    // Again if the machine took longer than a second for each request.
    const statuses = await eventually(
      () => statusesWith('0'),
      (seen) => seen.has(429),
    );
    expect(statuses).to.deep.equal(new Set([200, 429]));
  });
});
