import { expect } from 'chai';
import { adminKey, type Call, runApi, type RunningApi } from './support/running-api.js';

/**
 * Tests each pair of adjacent checks in the order that docs/http-api.md documents, with the real job resources and API
 * keys.
 */
describe('Order of checks, on jobs', () => {
  let api: RunningApi;
  let reader: string;
  let writer: string;
  const unknown = '/api/v1/jobs/01890a5d-ac96-774b-bcce-b302099a8057';

  before(async () => {
    api = await runApi();
    reader = (await api.makeKey({ scopes: ['read'] })).token;
    writer = (await api.makeKey({ scopes: ['read', 'write'] })).token;
  });
  after(() => api.stop());

  const html = { accept: 'text/html' };
  const plain = { 'content-type': 'text/plain' };
  const json = { 'content-type': 'application/json' };
  const large = 'x'.repeat(1024 * 1024 + 1);
  const stale = { 'if-match': '"stale"' };

  /**
   * Sends a body as the writer and returns the first error code; 0 if there is none. The body may be malformed JSON.
   */
  const post = async (path: string, body: string, headers: Call['headers']): Promise<number> => {
    const authorization = `Bearer ${writer}`;
    const response = await fetch(api.url + path, {
      method: 'POST',
      body,
      headers: { ...headers, authorization },
    });
    const { errors } = (await response.json()) as { errors: { code: number }[] };
    return errors[0]?.code ?? 0;
  };

  it('version 404 before path 404', async () => {
    expect(await api.codes('GET', '/api/v2/nothing')).to.deep.equal([40403]);
    expect(await api.codes('GET', '/api/v1/nothing')).to.deep.equal([40401]);
  });

  it('path 404 before method 405', async () => {
    expect(await api.codes('PATCH', '/api/v1/jobs/x/nothing')).to.deep.equal([40401]);
    expect(await api.codes('PATCH', '/api/v1/jobs/x/logs')).to.deep.equal([40501]);
  });

  it('method 405 before credentials 401', async () => {
    expect(await api.codes('PATCH', '/api/v1/jobs')).to.deep.equal([40501]);
    expect(await api.codes('GET', '/api/v1/jobs')).to.deep.equal([40101]);
  });

  it('credentials 401 before accept 406', async () => {
    expect(await api.codes('GET', '/api/v1/jobs', { headers: html })).to.deep.equal([40101]);
    expect(await api.codes('GET', '/api/v1/jobs', { headers: html, token: reader })).to.deep.equal([40601]);
  });

  it('scope 403 before accept 406', async () => {
    expect(await api.codes('POST', '/api/v1/jobs', { headers: html, token: reader })).to.deep.equal([40301]);
    expect(await api.codes('POST', '/api/v1/jobs', { headers: html, token: writer })).to.deep.equal([40601]);
  });

  it('accept 406 before media type 415', async () => {
    expect(await post('/api/v1/jobs', '{}', { ...html, ...plain })).to.equal(40601);
    expect(await post('/api/v1/jobs', '{}', plain)).to.equal(41501);
  });

  it('media type 415 before size 413', async () => {
    expect(await post('/api/v1/jobs', large, plain)).to.equal(41501);
    expect(await post('/api/v1/jobs', large, json)).to.equal(41301);
  });

  it('size 413 before JSON 400', async () => {
    expect(await post('/api/v1/jobs', `{${large}`, json)).to.equal(41301);
    expect(await post('/api/v1/jobs', '{x', json)).to.equal(40001);
  });

  it('JSON 400 before query 400', async () => {
    expect(await post('/api/v1/jobs?colour=red', '{x', json)).to.equal(40001);
    expect(await post('/api/v1/jobs?colour=red', '{}', json)).to.equal(40002);
  });

  it('query 400 before body 422', async () => {
    expect(await post('/api/v1/jobs?colour=red', '{"colour":"red"}', json)).to.equal(40002);
    expect(await post('/api/v1/jobs', '{"name":"test","colour":"red"}', json)).to.equal(42203);
  });

  it('body 422 before item 404', async () => {
    const patch = (fields: object) => api.codes('PATCH', unknown, { token: writer, json: fields });
    expect(await patch({ colour: 'red' })).to.deep.equal([42203]);
    expect(await patch({ priority: 1 })).to.deep.equal([40402]);
  });

  it('item 404 before precondition 412', async () => {
    const call = { token: adminKey, headers: stale };
    expect(await api.codes('PATCH', unknown, { ...call, json: { priority: 1 } })).to.deep.equal([40402]);
    expect(await api.codes('DELETE', unknown, call)).to.deep.equal([40402]);
    expect(await api.codes('PUT', `${unknown}/cancel`, call)).to.deep.equal([40402]);
  });

  it('precondition 412 before state 409', async () => {
    const made = await api.call('POST', '/api/v1/jobs', {
      token: adminKey,
      json: { name: 'test', args: { waitMs: 1 } },
    });
    const job = `/api/v1/jobs/${(made.json() as { id: string }).id}`;
    const expectBoth = async (method: string, path: string, call: Call = {}): Promise<void> => {
      const known = { ...call, token: adminKey };
      expect(await api.codes(method, path, { ...known, headers: stale })).to.deep.equal([41201]);
      expect(await api.codes(method, path, known)).to.deep.equal([40902]);
    };
    await expectBoth('DELETE', job);
    await api.call('PUT', `${job}/cancel`, { token: adminKey });
    await expectBoth('PUT', `${job}/run`);
    await expectBoth('PATCH', job, { json: { priority: 1 } });
  });
});
