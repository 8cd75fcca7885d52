import { expect } from 'chai';
import Type from 'typebox';
import { apiError, defineResource, errorCatalogue, type ResourceApiOptions } from '@longshore/resources';
import { serve, type TestApi } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

/** Serves a resource that throws `error` on `get`. Later middleware throws or responds, depending on the path. */
function serveFailing(error: unknown, options: Partial<ResourceApiOptions> = {}): Promise<TestApi> {
  const failures = defineResource({
    name: 'failures',
    item: Type.Object({ id: Type.String() }),
    storage: {
      get: async () => {
        throw error;
      },
    },
  });
  return serve({ resources: [failures], ...options }, (app) => {
    app.use((ctx) => {
      if (ctx.path === '/thrown') throw error;
      if (ctx.path === '/teapot') ctx.throw(400, 'no tea');
      if (ctx.path === '/fine') ctx.body = 'ok';
    });
  });
}

describe('Errors', () => {
  describe('the payload', () => {
    let api: Library;
    before(async () => (api = await serveLibrary()));
    after(() => api.close());

    it('has userMessage, internalMessage, code and more info, and nothing else', async () => {
      const { body } = await api.call('/api/v1/nothing');
      expect(body).to.deep.equal({
        errors: [
          {
            userMessage: errorCatalogue[40401].userMessage,
            internalMessage: 'There is no path /nothing',
            code: 40401,
            'more info': 'https://api.example.com/errors/40401',
          },
        ],
      });
    });

    for (const path of [
      '/api/v1/nothing',
      '/api/v1/openapi',
      '/api/v1/docs/nothing',
      '/nothing',
      '/errors/1',
      '/errors/99999',
      '/API/V1/nothing',
    ]) {
      it(`is the answer to the unknown path ${path}`, async () => {
        const { status, codes } = await api.call(path);
        expect(status).to.equal(404);
        expect(codes).to.have.lengthOf(1);
      });
    }

    for (const version of ['v2.5', 'v0', 'v01', 'v2', '1', 'latest']) {
      it(`names the supported versions to ${version}`, async () => {
        const { codes, messages } = await api.call(`/api/${version}/books`);
        expect(codes).to.deep.equal([40403]);
        expect(messages).to.contain('supported: v1');
      });
    }

    it('is problem+json only if asked for', async () => {
      const plain = await api.call('/api/v1/nothing', {
        headers: { accept: 'application/json, application/problem+json;q=0.5' },
      });
      const problem = await api.call('/api/v1/nothing', { headers: { accept: 'application/problem+json' } });
      expect(plain.headers.get('content-type')).to.contain('application/json');
      expect(problem.headers.get('content-type')).to.contain('application/problem+json');
      expect(problem.body).to.include({ status: 404, type: 'https://api.example.com/errors/40401' });
    });
  });

  describe('codes', () => {
    let api: Library;
    before(async () => (api = await serveLibrary({ bodyLimitBytes: 1000 })));
    after(() => api.close());

    const post = (json: unknown) => api.call('/api/v1/books', { method: 'POST', json });
    const cases: Readonly<Record<string, [code: number, () => Promise<{ codes: readonly number[] }>]>> = {
      'invalid JSON': [
        40001,
        () =>
          api.call('/api/v1/books', {
            method: 'POST',
            body: '{',
            headers: { 'content-type': 'application/json' },
          }),
      ],
      'a duplicate': [
        40901,
        () => api.call('/api/v1/authors', { method: 'POST', json: { id: 'austen', name: 'x', email: null } }),
      ],
      'a body over the limit': [41301, () => post(newBook({ title: 'x'.repeat(1000) }))],
      'a missing field': [42201, () => post({ title: 'x', price: 1 })],
      'no body at all': [42202, () => api.call('/api/v1/books', { method: 'POST' })],
      'an invalid field': [42202, () => post(newBook({ price: 'much' }))],
      'a reference to nothing': [42202, () => post(newBook({ authorId: 'nobody' }))],
      'a broken check of the table': [42202, () => post(newBook({ price: 13 }))],
      'text too long for its column': [
        42202,
        () =>
          api.call('/api/v1/authors', {
            method: 'POST',
            json: { id: 'x', name: 'x'.repeat(30), email: null },
          }),
      ],
      'NUL in a text': [42202, () => post(newBook({ title: 'a\0b' }))],
      'half a surrogate pair': [42202, () => post(newBook({ title: 'a\ud800' }))],
    };
    for (const [name, [code, provoke]] of Object.entries(cases)) {
      it(`${code} for ${name}`, async () => expect((await provoke()).codes).to.deep.equal([code]));
    }

    it('never contain a value that the database quoted', async () => {
      const { messages } = await api.call('/api/v1/authors', {
        method: 'POST',
        json: { id: 'secretid', name: 'x', email: 'jane@example.com' },
      });
      expect(messages).to.equal('Another item has the same email');
    });
  });

  describe('pages', () => {
    let api: TestApi;
    before(async () => (api = await serve({ resources: [], prefix: '/shop' })));
    after(() => api.close());

    for (const [code, { cause }] of Object.entries(errorCatalogue)) {
      it(`${code} explains cause and fix`, async () => {
        const { status, text, headers } = await api.call(`/errors/${code}`);
        expect(status).to.equal(200);
        expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
        const plain = text.replaceAll(/<\/?code>/g, '`');
        expect(plain)
          .to.contain('<h2>Cause</h2>')
          .and.contain('<h2>Fix</h2>')
          .and.contain(cause.slice(0, 10));
      });
    }

    it('are JSON if asked for', async () => {
      const { body } = await api.call('/errors/40402', { headers: { accept: 'application/json' } });
      expect(body).to.include({ code: 40402, status: 404, cause: errorCatalogue[40402].cause });
    });

    it('answers OPTIONS with the methods that the OpenAPI document names', async () => {
      const { status, headers } = await api.call('/errors/40402', { method: 'OPTIONS' });
      expect([status, headers.get('allow')]).to.deep.equal([204, 'GET, HEAD, OPTIONS']);
    });

    it('are found below the prefix too, where `more info` leads', async () => {
      const { body } = await api.call('/shop/api/v1/nothing');
      const [error] = (body as { errors: { 'more info': string }[] }).errors;
      expect(error?.['more info']).to.match(/\/shop\/errors\/40401$/);
      expect((await api.call('/shop/errors/40402')).status).to.equal(200);
    });

    it('link to the error of a path below /api without the prefix, which a gateway may strip', async () => {
      expect((await api.call('/api/v1/nothing')).codes).to.deep.equal([40401]);
    });
  });

  describe('500', () => {
    const secret = new Error('lost postgres://me:secret@db/x and https://me:secret@host/');

    it('contains the stack trace without connection strings, and is logged', async () => {
      const api = await serveFailing(secret);
      const { status, codes, messages } = await api.call('/api/v1/failures/1');
      await api.close();
      expect([status, ...codes]).to.deep.equal([500, 50001]);
      expect(messages)
        .to.match(/^Incident [0-9a-f-]{36}\n/)
        .and.contain('errors.test.ts')
        .and.not.contain('secret');
      expect(api.incidents).to.deep.equal([secret]);
    });

    it('contains no value that Postgres quoted', async () => {
      const quoting = Object.assign(new Error('column "x" of value \'hunter2\''), {
        code: '42703',
        severity: 'ERROR',
      });
      const api = await serveFailing(quoting);
      const { messages } = await api.call('/api/v1/failures/1');
      await api.close();
      expect(messages).to.contain('Incident').and.not.contain('hunter2');
    });

    it('contains no value that Postgres quoted in the cause of an error', async () => {
      const quoting = Object.assign(new Error('value "hunter2"'), { code: '22001', severity: 'ERROR' });
      const api = await serveFailing(new Error(`not stored: ${quoting.message}`, { cause: quoting }));
      const { messages } = await api.call('/api/v1/failures/1');
      await api.close();
      expect(messages).to.contain('caused by').and.not.contain('hunter2');
    });

    it('with the policy `trusted` shows the stack to admins only', async () => {
      const api = await serveFailing(secret, {
        errorStack: 'trusted',
        authenticate: ({ headers }) => ({ name: 'me', scopes: [headers['authorization'] ?? 'read'] }),
      });
      const anonymous = await api.call('/api/v1/failures/1');
      const admin = await api.call('/api/v1/failures/1', { headers: { authorization: 'admin' } });
      await api.close();
      expect(anonymous.messages).to.match(/^Incident [0-9a-f-]{36}$/);
      expect(admin.messages).to.contain('errors.test.ts');
    });

    it('is the answer to errors of other middleware', async () => {
      const api = await serveFailing(new Error('broken'));
      const codes = (
        await Promise.all(['/thrown', '/teapot', '/fine', '/none'].map((path) => api.call(path)))
      ).map((answer) => answer.codes);
      await api.close();
      expect(codes).to.deep.equal([[50001], [40003], [], [40401]]);
    });
  });

  describe('503', () => {
    it('is the answer if the database refuses connections, with Retry-After', async () => {
      const api = await serveFailing(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
      const { codes, headers } = await api.call('/api/v1/failures/1');
      await api.close();
      expect(codes).to.deep.equal([50301]);
      expect(headers.get('retry-after')).to.equal('2');
    });

    it('is the answer if the socket of the database does not exist, but not if a file is missing', async () => {
      const answered: unknown[] = [];
      for (const syscall of ['connect', 'open']) {
        const api = await serveFailing(Object.assign(new Error('missing'), { code: 'ENOENT', syscall }));
        answered.push((await api.call('/api/v1/failures/1')).codes);
        await api.close();
      }
      expect(answered).to.deep.equal([[50301], [50001]]);
    });

    it('is the answer if classifyError says so', async () => {
      const api = await serveFailing('gone', {
        classifyError: (error) => (error === 'gone' ? apiError(50301, 'gone') : undefined),
      });
      const { codes } = await api.call('/api/v1/failures/1');
      await api.close();
      expect(codes).to.deep.equal([50301]);
    });
  });
});
