import { expect } from 'chai';
import Koa from 'koa';
import Type from 'typebox';
import {
  createResourceApi,
  defineResource,
  memoryIdempotencyStore,
  type Principal,
  requireCaller,
  unauthorized,
} from '@longshore/resources';
import { serve as serveOnFreePort } from '@longshore/test-support';
import { baseUrl, serve, type TestApi } from './support/api.js';

const principals: Readonly<Record<string, Principal>> = {
  reader: { name: 'reader', scopes: ['read'] },
  writer: { name: 'writer', scopes: ['write'] },
  admin: { name: 'admin', scopes: ['admin'] },
};

const secrets = defineResource({
  name: 'secrets',
  item: Type.Object({ id: Type.String(), label: Type.String(), secret: Type.Optional(Type.String()) }),
  serverSet: ['id', 'secret'],
  shownOnce: ['secret'],
  storage: {
    get: async (id) => ({ id, label: 'first' }),
    create: async ({ label }) => ({ id: 'a', label, secret: 'x-marks-the-spot' }),
  },
});

describe('Credentials', () => {
  let api: TestApi;
  before(async () => {
    api = await serve({
      resources: [secrets],
      authenticate: ({ headers }) => {
        const given = headers['authorization']?.replace('Bearer ', '');
        if (given === undefined) return undefined;
        const principal = principals[given];
        if (principal === undefined) throw unauthorized('The token is unknown');
        return principal;
      },
    });
  });
  after(() => api.close());

  const call = (method: string, token?: string) =>
    api.call(`/api/v1/secrets${method === 'GET' ? '/a' : ''}`, {
      method,
      ...(method === 'POST' && { json: { label: 'first' } }),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });

  it('are requested with the scheme', async () => {
    const { codes, headers } = await call('GET');
    expect(codes).to.deep.equal([40101]);
    expect(headers.get('www-authenticate')).to.equal('Bearer realm="api"');
  });

  it('that are invalid are reported as invalid', async () => {
    const { codes, headers } = await call('GET', 'nobody');
    expect(codes).to.deep.equal([40101]);
    expect(headers.get('www-authenticate')).to.equal(
      'Bearer realm="api", error="invalid_token", error_description="The token is unknown"',
    );
  });

  it('without the scope are told the missing scope', async () => {
    const { codes, headers, messages } = await call('POST', 'reader');
    expect(codes).to.deep.equal([40301]);
    expect(messages).to.equal('This needs the scope "write"; these credentials have read');
    expect(headers.get('www-authenticate')).to.equal(
      'Bearer realm="api", error="insufficient_scope", scope="write"',
    );
  });

  it('need the scope `read` to read, `write` to change, and `admin` for both', async () => {
    const answers = [];
    for (const token of ['reader', 'writer', 'admin'])
      for (const method of ['GET', 'POST']) answers.push((await call(method, token)).status);
    expect(answers).to.deep.equal([200, 403, 403, 201, 200, 201]);
  });

  it('are also required by a guard of other routes', async () => {
    const app = new Koa();
    const authenticate = (): Principal => ({ name: 'reader', scopes: ['read'] });
    app.use(createResourceApi({ resources: [], baseUrl, log: { incident: () => {} } }));
    app.use(async (ctx, next) => {
      const scope = ctx.path.slice(1);
      await requireCaller({ authenticate, rateLimit: undefined }, scope)(ctx, next);
    });
    app.use((ctx) => (ctx.body = 'in'));
    const handle = app.callback();
    const server = await serveOnFreePort((request, response) => void handle(request, response));
    const answers = await Promise.all(['read', 'write'].map((path) => fetch(`${server.url}/${path}`)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    await server.close();
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 403]);
    expect(texts[1]).to.contain('40301');
  });
});

describe('A field that is shown once', () => {
  const stored = memoryIdempotencyStore();
  let api: TestApi;
  before(async () => (api = await serve({ resources: [secrets], idempotency: stored })));
  after(() => api.close());

  const post = (headers: Record<string, string> = {}) =>
    api.call('/api/v1/secrets', { method: 'POST', json: { label: 'first' }, headers });

  it('is in the answer to the POST', async () => {
    expect((await post()).body).to.deep.equal({ id: 'a', label: 'first', secret: 'x-marks-the-spot' });
  });

  it('is not part of the ETag', async () => {
    const read = await api.call('/api/v1/secrets/a');
    expect((await post()).headers.get('etag')).to.equal(read.headers.get('etag'));
  });

  it('is not kept for a repeated request', async () => {
    const headers = { 'idempotency-key': 'once' };
    await post(headers);
    expect((await post(headers)).body).to.deep.equal({ id: 'a', label: 'first' });
  });
});
