import { defineResource, pageOf } from '@longshore/resources';
import { expect } from 'chai';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';

describe('Media types', () => {
  let api: TestApi;
  const notes = defineResource({
    name: 'notes',
    item: Type.Object({ id: Type.String(), text: Type.String() }),
    operations: { file: { summary: 'File a note' } },
    storage: {
      list: async (query) => pageOf([{ id: 'a', text: 'x'.repeat(2_000) }], query),
      get: async (id) => ({ id, text: 'x'.repeat(2_000) }),
      create: async (body) => body,
      patch: async (id) => ({ id, text: 'x' }),
      operations: { file: async (id) => ({ id, text: 'x' }) },
    },
  });
  const ticks = defineResource({
    name: 'ticks',
    item: Type.Object({ id: Type.String() }),
    search: [],
    storage: { stream: async () => ({ events: (async function* () {})() }) },
  });
  before(async () => (api = await serve({ resources: [notes, ticks] })));
  after(() => api.close());

  for (const accept of [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    'text/html, application/json;q=0.1; charset=utf-8',
    'application/problem+json; charset=utf-8',
    'application/*',
    '*/*;q=0.1',
    ' ',
  ])
    it(`${accept} accepts JSON`, async () =>
      expect((await api.call('/api/v1/notes', { headers: { accept } })).status).to.equal(200));

  for (const accept of [
    'application/json; charset=iso-8859-1',
    'application/json;q=0',
    'application',
    'text/html',
  ])
    it(`${accept} does not accept JSON`, async () =>
      expect((await api.call('/api/v1/notes', { headers: { accept } })).codes).to.deep.equal([40601]));

  for (const accept of ['text/event-stream; charset=utf-8', 'text/event-stream', 'text/*'])
    it(`${accept} accepts a stream`, async () =>
      expect((await api.call('/api/v1/ticks', { headers: { accept } })).status).to.equal(200));

  it('problem+json is preferred with parameters, too', async () => {
    const accept = 'application/problem+json; charset=utf-8';
    const { headers } = await api.call('/api/v1/none', { headers: { accept } });
    expect(headers.get('content-type')).to.equal('application/problem+json; charset=utf-8');
  });

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;Charset="UTF-8"',
    'application/json; charset=utf8; profile="a;b"',
  ])
    it(`a body may be ${type}`, async () => {
      const init = { method: 'POST', headers: { 'content-type': type }, body: '{"id":"a","text":"x"}' };
      expect((await api.call('/api/v1/notes', init)).status).to.equal(201);
    });

  for (const type of [
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset',
    '/',
    'json',
  ])
    it(`a body must not be ${type}`, async () => {
      const init = { method: 'POST', headers: { 'content-type': type }, body: '{"id":"a","text":"x"}' };
      expect((await api.call('/api/v1/notes', init)).codes).to.deep.equal([41501]);
    });

  it('the type of an empty body does not matter, as curl -X PUT -d "" sends one', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await api.call('/api/v1/notes/a/file', { method: 'PUT', headers, body: '' })).status).to.equal(
      200,
    );
  });

  for (const encoding of ['identity', 'gzip', 'br', 'deflate'])
    for (const path of [
      '/api/v1/notes',
      '/api/v1/notes/a',
      '/api/v1/notes/a?fields=id',
      '/api/v1/openapi.json',
    ])
      it(`a 304 for ${path} has the ETag of the 200 in ${encoding}`, async () => {
        const headers = { 'accept-encoding': encoding };
        const etag = (await api.call(path, { headers })).headers.get('etag') ?? '';
        const known = await api.call(path, { headers: { ...headers, 'if-none-match': etag } });
        expect([known.status, known.text, known.headers.get('etag')]).to.deep.equal([304, '', etag]);
        expect(known.headers.get('content-encoding')).to.equal(null);
        const elsewhere = await api.call(path, {
          headers: { 'accept-encoding': 'identity', 'if-none-match': etag },
        });
        const plain = await api.call(path, { headers: { 'accept-encoding': 'identity' } });
        expect([elsewhere.status, elsewhere.headers.get('etag')]).to.deep.equal([
          304,
          plain.headers.get('etag'),
        ]);
      });

  it('an error shows a value up to a limit, without cutting a character', async () => {
    const { text, messages } = await api.call(
      `/api/v1/notes?limit=${'x'.repeat(99)}${encodeURIComponent('😀')}`,
    );
    expect(messages).to.contain(`"${'x'.repeat(99)}"`);
    expect(text).not.to.match(/\\ud[89a-f]/i);
  });
});
