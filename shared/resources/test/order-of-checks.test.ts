import { expect } from 'chai';
import { Throttle } from '@longshore/resources';
import { type Library, newBook, serveLibrary } from './support/library.js';

/** A fault that makes one check of a request fail, and the expected status. */
interface Fault {
  readonly name: string;
  readonly status: number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const missing = '/books/00000000-0000-4000-8000-000000000000';

describe('Order of checks', () => {
  let api: Library;
  before(async () => {
    api = await serveLibrary({
      bodyLimitBytes: 300,
      authenticate: ({ headers }) =>
        headers['authorization'] === undefined ? { name: 'me', scopes: ['read', 'write'] } : undefined,
    });
  });
  after(() => api.close());

  const answer = async (...faults: readonly Fault[]): Promise<number> => {
    const {
      path = '/api/v1/books',
      method = 'POST',
      body = JSON.stringify(newBook()),
    } = Object.fromEntries(faults.flatMap((fault) => Object.entries(fault))) as unknown as Fault;
    const headers = { 'content-type': 'application/json' };
    for (const fault of faults) Object.assign(headers, fault.headers);
    return (await api.call(path, { method, headers, body })).status;
  };

  const version: Fault = { name: 'version', status: 404, path: '/api/v2/nothing' };
  const path: Fault = { name: 'path', status: 404, path: '/api/v1/nothing' };
  const method: Fault = { name: 'method', status: 405, method: 'PATCH' };
  const credentials: Fault = { name: 'credentials', status: 401, headers: { authorization: 'Bearer wrong' } };
  const accept: Fault = { name: 'accept', status: 406, headers: { accept: 'text/html' } };
  const type: Fault = { name: 'media type', status: 415, headers: { 'content-type': 'text/plain' } };
  const size: Fault = { name: 'size', status: 413, body: `{"title": ${' '.repeat(400)}` };
  const json: Fault = { name: 'JSON', status: 400, body: '{"title": ' };
  const query: Fault = { name: 'query', status: 400, path: '/api/v1/books?colour=red' };
  const body: Fault = { name: 'body', status: 422, body: '{}' };

  const pairs: readonly (readonly [Fault, Fault])[] = [
    [method, credentials],
    [credentials, accept],
    [accept, type],
    [type, size],
    [size, query],
    [json, query],
    [query, body],
  ];
  for (const [first, second] of pairs) {
    it(`${first.name} before ${second.name}`, async () => {
      expect(await answer(second)).to.equal(second.status);
      expect(await answer(second, first)).to.equal(first.status);
    });
  }

  it('version before path', async () => {
    expect((await api.call(version.path ?? '')).codes).to.deep.equal([40403]);
    expect((await api.call(path.path ?? '')).codes).to.deep.equal([40401]);
  });

  it('path before method', async () => {
    expect(await answer(method, path)).to.equal(404);
  });

  it('size before JSON', async () => {
    expect(await answer(json)).to.equal(400);
    expect(await answer(json, size)).to.equal(413);
  });

  it('body 422 before item 404', async () => {
    const put = (json: unknown) => api.call(`/api/v1${missing}`, { method: 'PUT', json });
    expect((await put(newBook())).status).to.equal(404);
    expect((await put({})).status).to.equal(422);
  });

  it('item 404 before precondition 412 and 428', async () => {
    const headers = { 'if-match': '"stale"' };
    const stale = await api.call(`/api/v1${missing}`, { method: 'PUT', json: newBook(), headers });
    const required = await api.call('/api/v1/authors/nobody', { method: 'DELETE' });
    expect([stale.status, required.status]).to.deep.equal([404, 404]);
  });

  it('precondition 412 before state 409', async () => {
    const { body: made } = await api.call('/api/v1/books', { method: 'POST', json: newBook() });
    const url = `/api/v1/books/${(made as { id: string }).id}`;
    await api.call(`${url}/lose`, { method: 'PUT' });
    const lend = (headers: Record<string, string>) => api.call(`${url}/lend`, { method: 'PUT', headers });
    expect((await lend({})).status).to.equal(409);
    expect((await lend({ 'if-match': '"stale"' })).status).to.equal(412);
  });

  it('credentials 401 before limit 429 before scope 403', async () => {
    const limited = await serveLibrary({
      authenticate: ({ headers }) =>
        headers['authorization'] === undefined ? undefined : { name: 'reader', scopes: ['read'] },
      rateLimit: new Throttle({ perSecond: 0.001, burst: 1 }),
    });
    const post = async (headers: Record<string, string>): Promise<readonly number[]> =>
      (await limited.call('/api/v1/books', { method: 'POST', headers })).codes;
    const reader = { authorization: 'Bearer reader' };
    const answers = [await post(reader), await post(reader), await post({})];
    await limited.close();
    expect(answers).to.deep.equal([[40301], [42901], [40101]]);
  });

  it('scope 403 before accept 406', async () => {
    const reader = await serveLibrary({ authenticate: () => ({ name: 'reader', scopes: ['read'] }) });
    const { codes } = await reader.call('/api/v1/books', {
      method: 'POST',
      headers: { accept: 'text/html' },
    });
    await reader.close();
    expect(codes).to.deep.equal([40301]);
  });
});
