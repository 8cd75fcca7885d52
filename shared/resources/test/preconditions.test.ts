import { expect } from 'chai';
import { defineResource } from '@longshore/resources';
import Type from 'typebox';
import { serve, type TestApi } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

const writers = 50;

describe('Conditions (RFC 9110, section 13)', () => {
  let api: Library;
  before(async () => (api = await serveLibrary()));
  after(() => api.close());

  const make = async (): Promise<{ path: string; etag: string }> => {
    const made = await api.call('/api/v1/books', { method: 'POST', json: newBook() });
    const { id } = made.body as { id: string };
    return { path: `/api/v1/books/${id}`, etag: made.headers.get('etag') ?? '' };
  };
  const send = (
    method: string,
    path: string,
    headers: Record<string, string>,
    json?: unknown,
  ): ReturnType<TestApi['call']> =>
    api.call(path, { method, headers, ...(json === undefined ? {} : { json }) });

  for (const [what, headerOf, status] of [
    ['the tag', (etag: string) => etag, 204],
    ['a list with the tag', (etag: string) => `"a,b", ${etag} , "c"`, 204],
    ['a list with empty elements', (etag: string) => `,, ${etag},`, 204],
    ['*', () => '*', 204],
    ['another tag', () => '"other"', 412],
    ['the weak tag', (etag: string) => `W/${etag}`, 412],
    ['a tag that only contains it', (etag: string) => `"x${etag.slice(1)}`, 412],
    ['a tag without quotes', (etag: string) => etag.slice(1, -1), 400],
    ['* in a list', (etag: string) => `*, ${etag}`, 400],
    ['nothing', () => ' ', 400],
  ] as const) {
    it(`If-Match with ${what} on DELETE is ${status}`, async () => {
      const { path, etag } = await make();
      expect((await send('DELETE', path, { 'if-match': headerOf(etag) })).status).to.equal(status);
    });
  }

  for (const [what, headerOf, status] of [
    ['*', () => '*', 412],
    ['the tag', (etag: string) => etag, 412],
    ['the weak tag', (etag: string) => `W/${etag}`, 412],
    ['another tag', () => '"other"', 200],
    ['a tag without quotes', () => 'other', 400],
  ] as const) {
    it(`If-None-Match with ${what} on PUT of an existing item is ${status}`, async () => {
      const { path, etag } = await make();
      const headers = { 'if-match': etag, 'if-none-match': headerOf(etag) };
      expect((await send('PUT', path, headers, newBook({ title: 'Changed' }))).status).to.equal(status);
      const read = await api.call(path);
      expect(read.headers.get('etag') === etag).to.equal(status !== 200);
    });
  }

  it('If-None-Match: * on PUT of a missing item is 404: PUT creates none', async () => {
    const { path } = await make();
    const { etag } = await make();
    await send('DELETE', path, { 'if-match': '*' });
    const headers = { 'if-match': etag, 'if-none-match': '*' };
    expect((await send('PUT', path, headers, newBook())).status).to.equal(404);
  });

  for (const [what, headersOf, status] of [
    ['the tag in If-None-Match', (etag: string) => ({ 'if-none-match': etag }), 304],
    ['the weak tag in If-None-Match', (etag: string) => ({ 'if-none-match': `"x", W/${etag}` }), 304],
    ['* in If-None-Match', () => ({ 'if-none-match': '*' }), 304],
    ['another tag in If-None-Match', () => ({ 'if-none-match': '"x"' }), 200],
    ['another tag in If-Match', () => ({ 'if-match': '"x"' }), 412],
    ['the tag in If-Match', (etag: string) => ({ 'if-match': etag }), 200],
  ] as const) {
    it(`GET with ${what} is ${status}`, async () => {
      const { path, etag } = await make();
      expect((await send('GET', path, headersOf(etag))).status).to.equal(status);
    });
  }

  for (const [method, suffix, json, won] of [
    ['PUT', '', newBook({ title: 'Changed' }), 200],
    ['PATCH', '', { title: 'Changed' }, 200],
  ] as const) {
    it(`only one of 50 writers that read the same item wins with ${method}`, async () => {
      const { path, etag } = await make();
      const answers = await Promise.all(
        Array.from({ length: writers }, () => send(method, path + suffix, { 'if-match': etag }, json)),
      );
      const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
      expect(statuses).to.deep.equal([won, ...Array<number>(writers - 1).fill(412)]);
    });
  }
});

describe('A special operation of a resource that requires If-Match', () => {
  const door = { id: '1', isOpen: false };
  const doors = defineResource({
    name: 'doors',
    item: Type.Object({ id: Type.String(), isOpen: Type.Boolean() }),
    ifMatch: 'required',
    operations: { open: { summary: 'Open the door' } },
    storage: { get: async () => door, operations: { open: async () => door } },
  });
  let api: TestApi;
  before(async () => (api = await serve({ resources: [doors] })));
  after(() => api.close());

  for (const [what, headersOf, status] of [
    ['no condition', () => ({}), 200],
    ['another tag in If-None-Match', () => ({ 'if-none-match': '"other"' }), 200],
    ['the tag in If-None-Match', (etag: string) => ({ 'if-none-match': etag }), 412],
  ] as const) {
    it(`answers ${status} to ${what}`, async () => {
      const etag = (await api.call('/api/v1/doors/1')).headers.get('etag') ?? '';
      const init = { method: 'PUT', headers: headersOf(etag) };
      expect((await api.call('/api/v1/doors/1/open', init)).status).to.equal(status);
    });
  }
});
