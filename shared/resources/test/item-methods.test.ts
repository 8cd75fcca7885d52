import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

interface Book {
  readonly id: string;
  readonly title: string;
  readonly pages?: number;
  readonly [field: string]: unknown;
}

describe('Methods of items', () => {
  let api: Library;
  before(async () => (api = await serveLibrary()));
  after(() => api.close());

  const send = (
    method: string,
    path: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => api.call(`/api/v1${path}`, { method, headers, json });
  const created = async (fields: object = {}): Promise<Book> => {
    const { status, body } = await send('POST', '/books', newBook(fields));
    expect(status).to.equal(201);
    return body as Book;
  };

  describe('GET item', () => {
    it('answers 200 with an ETag', async () => {
      const book = await created();
      const { status, headers, body } = await send('GET', `/books/${book.id}`);
      expect(status).to.equal(200);
      expect(headers.get('etag')).to.be.a('string');
      expect(body).to.deep.equal(book);
    });

    it('answers If-None-Match with 304 without a body', async () => {
      const { id } = await created();
      const etag = (await send('GET', `/books/${id}`)).headers.get('etag') ?? '';
      const { status, text } = await send('GET', `/books/${id}`, undefined, {
        'if-none-match': `"x", W/${etag}`,
      });
      expect([status, text]).to.deep.equal([304, '']);
    });

    it('trims the item to fields', async () => {
      const { id } = await created();
      expect((await send('GET', `/books/${id}?fields=title,id`)).body).to.deep.equal({ title: 'Emma', id });
    });
  });

  describe('POST item', () => {
    it('answers 405 with Allow even if the item does not exist', async () => {
      const { status, headers } = await send('POST', '/books/nothing', {});
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, HEAD, PUT, PATCH, DELETE, OPTIONS');
    });
  });

  describe('PUT item', () => {
    it('replaces the whole item', async () => {
      const book = await created({ pages: 100, details: { isbn: '1' } });
      const { status, body } = await send('PUT', `/books/${book.id}`, {
        title: 'New',
        authorId: 'eliot',
        price: 1,
      });
      expect(status).to.equal(200);
      expect(body).to.include({ title: 'New', authorId: 'eliot', price: 1, id: book.id });
      expect(body).to.not.have.any.keys('pages', 'details');
    });

    it('refuses a missing required field with 422', async () => {
      const { id } = await created();
      expect((await send('PUT', `/books/${id}`, { title: 'New', price: 1 })).codes).to.deep.equal([42201]);
    });

    it('answers 404 for an unknown id', async () => {
      expect((await send('PUT', '/books/nothing', newBook())).codes).to.deep.equal([40402]);
    });

    it('refuses an id in the body that is not that of the path with 422', async () => {
      const [one, two] = [await created(), await created()];
      expect((await send('PUT', `/books/${one.id}`, two)).codes).to.deep.equal([42202]);
    });

    it('refuses a stale If-Match with 412', async () => {
      const { id } = await created();
      const { status, codes } = await send('PUT', `/books/${id}`, newBook(), { 'if-match': '"stale"' });
      expect([status, ...codes]).to.deep.equal([412, 41201]);
    });

    it('accepts a current If-Match', async () => {
      const { id } = await created();
      const etag = (await send('GET', `/books/${id}`)).headers.get('etag') ?? '';
      expect((await send('PUT', `/books/${id}`, newBook(), { 'if-match': etag })).status).to.equal(200);
    });

    it('requires If-Match if the resource does', async () => {
      const author = { id: 'austen', name: 'J. Austen', email: null };
      expect((await send('PUT', '/authors/austen', author)).codes).to.deep.equal([42801]);
    });

    it('lets exactly one of two writers with the same ETag win', async () => {
      const { id } = await created();
      const etag = (await send('GET', `/books/${id}`)).headers.get('etag') ?? '';
      const put = (title: string) => send('PUT', `/books/${id}`, newBook({ title }), { 'if-match': etag });
      const statuses = (await Promise.all([put('First'), put('Second')])).map(({ status }) => status);
      expect(statuses).to.have.members([200, 412]);
    });
  });

  describe('PATCH item', () => {
    for (const type of ['application/merge-patch+json', 'application/json']) {
      it(`merges ${type}`, async () => {
        const { id } = await created({ pages: 7, details: { isbn: '1', colour: 'red' } });
        const patch = { pages: null, details: { colour: 'blue' } };
        const { status, body } = await send('PATCH', `/books/${id}`, patch, { 'content-type': type });
        expect(status).to.equal(200);
        expect(body).to.deep.include({ details: { isbn: '1', colour: 'blue' }, title: 'Emma' });
        expect(body).to.not.have.property('pages');
      });
    }

    it('refuses other types with 415 and Accept-Patch', async () => {
      const { id } = await created();
      const { status, headers } = await send(
        'PATCH',
        `/books/${id}`,
        {},
        { 'content-type': 'application/json-patch+json' },
      );
      expect(status).to.equal(415);
      expect(headers.get('accept-patch')).to.equal('application/merge-patch+json, application/json');
    });

    it('refuses null for a required field', async () => {
      const { id } = await created();
      expect((await send('PATCH', `/books/${id}`, { title: null })).codes).to.deep.equal([42202]);
    });

    it('validates the merged item', async () => {
      const { id } = await created();
      expect((await send('PATCH', `/books/${id}`, { details: { isbn: 5 } })).codes).to.deep.equal([42202]);
    });
  });

  describe('DELETE item', () => {
    it('answers 204, then 404', async () => {
      const { id } = await created();
      const statuses = [
        (await send('DELETE', `/books/${id}`)).status,
        (await send('DELETE', `/books/${id}`)).status,
      ];
      expect(statuses).to.deep.equal([204, 404]);
    });

    it('answers 409 while the item is referenced', async () => {
      await created();
      const { status, codes } = await send('DELETE', '/authors/austen', undefined, { 'if-match': '*' });
      expect([status, ...codes]).to.deep.equal([409, 40903]);
    });
  });
});
