import { expect } from 'chai';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { MemoryStorage } from '@longshore/jobs';
import { eventually, serve, type TestServer } from '@longshore/test-support';
import { runApi, type RunningApi } from './support/running-api.js';
import { serveResources } from './support/served-resources.js';

const issuer = 'https://issuer.example.com';
const audience = 'longshore';
const now = (): number => Math.floor(Date.now() / 1000);

interface Changes {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: CryptoKey;
  readonly alg?: string;
  readonly typ?: string;
}

describe('JWTs', () => {
  let privateKey: CryptoKey;
  let otherKey: CryptoKey;
  let keys: TestServer;
  let asked = 0;
  let api: RunningApi;

  before(async () => {
    const pair = await generateKeyPair('RS256');
    ({ privateKey } = pair);
    ({ privateKey: otherKey } = await generateKeyPair('RS256'));
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    keys = await serve((_, response) => {
      asked += 1;
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
    });
    api = await runApi({
      API_AUTH: 'keys,jwt',
      API_JWT_ISSUER: issuer,
      API_JWT_AUDIENCE: audience,
      API_JWT_JWKS_URL: `${keys.url}/jwks.json`,
    });
  });
  after(async () => {
    await api.stop();
    await keys.close();
  });

  const tokenWith = ({ claims = {}, key = privateKey, alg = 'RS256', typ }: Changes = {}) =>
    new SignJWT({
      iss: issuer,
      aud: audience,
      sub: 'shop',
      exp: now() + 3_600,
      scope: 'openid read',
      ...claims,
    })
      .setProtectedHeader({ alg, kid: 'one', ...(typ !== undefined && { typ }) })
      .sign(key);

  const read = async (changes?: Changes) =>
    api.call('GET', '/api/v1/jobs', { token: await tokenWith(changes) });

  it('are accepted, and the issuer’s keys are read once', async () => {
    // Reading the keys fails if it takes longer than five seconds.
    await eventually(read, ({ status }) => status === 200);
    const before = asked;
    expect([(await read()).status, asked - before]).to.deep.equal([200, 0]);
    expect(before).to.be.above(0);
  });

  it('permit what their scope claim says', async () => {
    const token = await tokenWith();
    const { status, headers } = await api.call('POST', '/api/v1/jobs', { token });
    expect(status).to.equal(403);
    expect(headers['www-authenticate']).to.contain('scope="write"');
  });

  it('distinguish subjects with the same first 200 characters', async () => {
    const scope = 'read write';
    const common = 'x'.repeat(220);
    const answers = [];
    for (const sub of [`${common}1`, `${common}2`, `${common}1`]) {
      const token = await tokenWith({ claims: { sub, scope } });
      const json = { name: 'test', args: { waitMs: sub.endsWith('1') ? 1 : 2 } };
      answers.push(
        await api.call('POST', '/api/v1/jobs', { token, json, headers: { 'idempotency-key': 'one' } }),
      );
    }
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    const [first, second, third] = answers.map((answer) => (answer.json() as { id: string }).id);
    expect([first === second, first === third]).to.deep.equal([false, true]);
  });

  it('grant no more authority with a longer subject than OpenID Connect allows', async () => {
    const statuses = [];
    for (const length of [255, 256])
      statuses.push((await read({ claims: { sub: 'x'.repeat(length) } })).status);
    expect(statuses).to.deep.equal([200, 401]);
  });

  it('let a subject of 255 characters start a bulk operation', async () => {
    const token = await tokenWith({ claims: { sub: 'x'.repeat(255), scope: 'operate' } });
    expect((await api.call('DELETE', '/api/v1/jobs?state=done', { token })).status).to.equal(204);
  });

  it('permit nothing without scopes', async () => {
    expect((await read({ claims: { scope: undefined } })).status).to.equal(403);
  });

  const wrong: Readonly<Record<string, readonly [reason: string, changes: () => Changes]>> = {
    'of another issuer': ['iss', () => ({ claims: { iss: 'https://other.example.com' } })],
    'for another audience': ['aud', () => ({ claims: { aud: 'other' } })],
    'that name nobody': ['sub', () => ({ claims: { sub: undefined } })],
    'that never expire': ['exp', () => ({ claims: { exp: undefined } })],
    'that have expired': ['expired', () => ({ claims: { exp: now() - 60 } })],
    'that do not hold yet': ['nbf', () => ({ claims: { nbf: now() + 3_600 } })],
    'signed by another key': ['signature', () => ({ key: otherKey })],
  };
  for (const [what, [reason, changes]] of Object.entries(wrong)) {
    it(`are rejected with the reason: ${what}`, async () => {
      const { status, headers } = await read(changes());
      expect(status).to.equal(401);
      expect(headers['www-authenticate']).to.contain('error="invalid_token"').and.contain(reason);
    });
  }

  for (const sub of ['', null, 7, true, {}, { name: 'ann' }, ['ann'], 'a\0b', 'half \ud800'])
    it(`are rejected, not answered with 503, if the subject is ${JSON.stringify(sub)}`, async () => {
      const { status, headers } = await read({ claims: { sub } });
      expect(status).to.equal(401);
      expect(headers['www-authenticate']).to.contain('error="invalid_token"').and.contain('sub');
    });

  it('are rejected if they are signed with a well-known secret', async () => {
    const token = await new SignJWT({
      iss: issuer,
      aud: audience,
      sub: 'x',
      exp: now() + 3_600,
      scope: 'admin',
    })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode('one'));
    expect((await api.call('GET', '/api/v1/jobs', { token })).status).to.equal(401);
  });

  it('are rejected if they are not signed', async () => {
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${encode({ alg: 'none' })}.${encode({ sub: 'x', scope: 'admin' })}.`;
    expect((await api.call('GET', '/api/v1/jobs', { token })).status).to.equal(401);
  });

  it('may come from a clock that is slightly off', async () => {
    expect((await read({ claims: { nbf: now() + 3, exp: now() + 3_600 } })).status).to.equal(200);
  });

  it('expire by the storage’s clock', async () => {
    const aYearLater = { now: () => Date.now() + 365 * 86_400_000 };
    const later = await serveResources(new MemoryStorage({ clock: aYearLater }), {
      API_AUTH: 'jwt',
      API_ADMIN_KEY: '',
      API_JWT_ISSUER: issuer,
      API_JWT_AUDIENCE: audience,
      API_JWT_JWKS_URL: `${keys.url}/jwks.json`,
    });
    const headers = { authorization: `Bearer ${await tokenWith()}` };
    const { status } = await eventually(
      () => fetch(`${later.url}/api/v1/jobs`, { headers }),
      (answer) => answer.status !== 503,
    );
    await later.close();
    expect(status).to.equal(401);
  });

  it('are accepted next to API keys', async () => {
    const { token } = await api.makeKey({});
    expect((await api.call('GET', '/api/v1/jobs', { token })).status).to.equal(200);
  });

  it('are checked for the type API_JWT_TYP and the scope prefix API_JWT_SCOPE_PREFIX, if set', async () => {
    const strict = await runApi({
      API_AUTH: 'jwt',
      API_ADMIN_KEY: '',
      API_JWT_ISSUER: issuer,
      API_JWT_AUDIENCE: audience,
      API_JWT_JWKS_URL: `${keys.url}/jwks.json`,
      API_JWT_TYP: 'at+jwt',
      API_JWT_SCOPE_PREFIX: 'longshore:',
    });
    const statusWith = async (scope: string, typ?: string): Promise<number> => {
      const token = await tokenWith({ claims: { scope }, ...(typ !== undefined && { typ }) });
      const answer = await eventually(
        () => strict.call('GET', '/api/v1/jobs', { token }),
        ({ status }) => status !== 503,
      );
      return answer.status;
    };
    const statuses = [
      await statusWith('longshore:read', 'at+jwt'),
      await statusWith('longshore:read', 'application/at+JWT'),
      await statusWith('longshore:read', 'JWT'),
      await statusWith('longshore:read'),
      await statusWith('read admin', 'at+jwt'),
    ];
    await strict.stop();
    expect(statuses).to.deep.equal([200, 200, 401, 401, 403]);
  });

  it('of an issuer whose keys cannot be read lead to 503, not 401', async () => {
    const away = await runApi({
      API_AUTH: 'jwt',
      API_ADMIN_KEY: '',
      API_JWT_ISSUER: issuer,
      API_JWT_AUDIENCE: audience,
      API_JWT_JWKS_URL: 'http://127.0.0.1:1/jwks.json',
    });
    const answer = await away.call('GET', '/api/v1/jobs', { token: await tokenWith() });
    await away.stop();
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(answer.text).to.contain('50302');
    expect(away.log()).to.contain('the keys of API_JWT_JWKS_URL cannot be read');
  });
});
