import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import createClient from 'openapi-fetch';
import { Throttle, type OpenApiDocument, readOrWrite } from '@longshore/resources';
import { compileClient } from '@longshore/test-support';
import { type Library, serveLibrary } from './support/library.js';

/** Source code of a client of the API, using the types generated from the document. */
const client = `
  import type { Client } from 'openapi-fetch';
  import type { paths } from './schema.js';
  export async function lendFirst(api: Client<paths>): Promise<{ title: string; state: string | undefined }> {
    const made = await api.POST('/books', { body: { title: 'Emma', authorId: 'austen', price: 9.5 } });
    if (made.data === undefined || Array.isArray(made.data)) throw new Error(String(made.error?.errors[0]?.code));
    const bookId: string = made.data.id;
    const lent = await api.PUT('/books/{bookId}/lend', { params: { path: { bookId } }, body: { days: 3 } });
    const title: string = made.data.title;
    const state: 'available' | 'lent' | 'lost' | 'sold' | undefined = lent.data?.status;
    return { title, state };
  }`;

describe('The OpenAPI document', () => {
  let api: Library;
  let text: string;
  before(async () => {
    api = await serveLibrary({
      // Replaces the default base URL, because Redocly rejects servers named example.com.
      baseUrl: 'https://library.longshore.dev',
      authenticate: () => ({ name: 'me', scopes: ['admin'] }),
      scopeOf: ({ method, operation }) => (operation === undefined ? readOrWrite({ method }) : 'operate'),
      rateLimit: new Throttle({ perSecond: 100, burst: 200 }),
    });
    text = (await api.call('/api/v1/openapi.json')).text;
  });
  after(() => api.close());

  const document = (): OpenApiDocument => JSON.parse(text) as OpenApiDocument;

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
    expect(errors).to.equal(undefined);
    expect(valid).to.equal(true);
  });

  it('passes Redocly’s strict rules', async () => {
    // Redocly considers `/books/search/{keyword}` and `/books/{bookId}/lend` ambiguous. They are not, because no item
    // can have the id `search`.
    const rules = { 'no-ambiguous-paths': 'off' as const };
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const problems = await lintFromString({ source: text, config });
    const found = problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`,
    );
    expect(found).to.deep.equal([]);
  });

  it('compiles to a client that works, and that refuses what the API does not know', async () => {
    const compiled = await compileClient(document(), client);
    expect(compiled.problems).to.deep.equal([]);
    const { lendFirst } = await compiled.load();
    const result = await lendFirst?.(createClient({ baseUrl: `${api.url}/api/v1` }));
    expect(result).to.deep.equal({ title: 'Emma', state: 'lent' });
    const wrong = await compileClient(document(), client.replace("title: 'Emma'", "name: 'Emma'"));
    expect(wrong.problems.join()).to.contain("'name' does not exist");
  });

  it('lists every path and method that is served', async () => {
    const { paths } = document();
    const served = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((name) => ['get', 'post', 'put', 'patch', 'delete'].includes(name))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(served).to.include.members([
      'GET /books',
      'POST /books',
      'PUT /books',
      'DELETE /books',
      'GET /books/search/{keyword}',
      'PATCH /books/{bookId}',
      'PUT /books/{bookId}/lend',
      'GET /books/{bookId}/chapters',
      'DELETE /authors/{authorId}/books/{bookId}/chapters/{chapterId}',
    ]);
  });

  it('states which scope an operation needs', () => {
    const { paths } = document();
    const scopeAt = (path: string, method: string) =>
      (paths[path]?.[method] as { 'x-scope'?: unknown } | undefined)?.['x-scope'];
    expect([
      scopeAt('/books', 'get'),
      scopeAt('/books', 'post'),
      scopeAt('/books/{bookId}/lend', 'put'),
    ]).to.deep.equal(['read', 'write', 'operate']);
  });

  it('states how many requests a caller may send', () => {
    const { RateLimitPolicy } = document().components.headers;
    expect(RateLimitPolicy?.example).to.equal('"default";q=200;w=2');
  });

  it('answers other methods with 405', async () => {
    expect((await api.call('/api/v1/openapi.json', { method: 'POST' })).codes).to.deep.equal([40501]);
  });
});
