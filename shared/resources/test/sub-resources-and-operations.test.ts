import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

interface Book {
  readonly id: string;
  readonly title: string;
  readonly pages?: number;
  readonly [field: string]: unknown;
}

describe('Sub-resources and operations', () => {
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

  describe('sub-collection, sub-item', () => {
    it('follow the same rules', async () => {
      const { id } = await created();
      const made = await send('POST', `/books/${id}/chapters`, { heading: 'I' });
      const path = `/books/${id}/chapters/${(made.body as { id: string }).id}`;
      expect(made.headers.get('location')).to.equal(`https://api.example.com/api/v1${path}`);
      expect((await send('PATCH', path, { heading: 'II' })).body).to.include({ heading: 'II', bookId: id });
      expect(
        (await send('GET', `/books/${id}/chapters?sort=-heading`)).headers.get('x-total-count'),
      ).to.equal('1');
      expect((await send('DELETE', path)).status).to.equal(204);
    });

    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      it(`${method} answers 404 for a child under the wrong parent`, async () => {
        const [right, wrong] = [await created(), await created()];
        const made = await send('POST', `/books/${right.id}/chapters`, { heading: 'I' });
        const chapter = made.body as { id: string };
        const json = method === 'GET' || method === 'DELETE' ? undefined : { heading: 'X', bookId: wrong.id };
        const answer = await send(method, `/books/${wrong.id}/chapters/${chapter.id}`, json);
        expect(answer.codes).to.deep.equal([40402]);
        expect(answer.messages).to.contain('chapter');
      });
    }

    it('name a missing parent', async () => {
      const missing = '00000000-0000-4000-8000-000000000000';
      const { codes, messages } = await send('GET', `/authors/austen/books/${missing}/chapters`);
      expect(codes).to.deep.equal([40402]);
      expect(messages).to.equal(`There is no book "${missing}" here`);
    });

    it('check each parent below its own parents', async () => {
      const { id } = await created();
      expect((await send('GET', `/authors/austen/books/${id}/chapters`)).status).to.equal(200);
      expect((await send('GET', `/authors/eliot/books/${id}/chapters`)).status).to.equal(404);
    });
  });

  describe('PUT item/{verb}', () => {
    it('performs the operation with an empty body', async () => {
      const { id } = await created({ pages: 1 });
      const { status, body } = await send('PUT', `/books/${id}/lend`);
      expect(status).to.equal(200);
      expect(body).to.include({ status: 'lent', pages: 15 });
    });

    it('has no further effect in the target state', async () => {
      const { id } = await created({ pages: 1 });
      await send('PUT', `/books/${id}/lend`, { days: 2 });
      const { status, body } = await send('PUT', `/books/${id}/lend`, { days: 2 });
      const reminders = await api.database.query(
        "select 1 from library.reminder where args ->> 'book' = $1",
        [id],
      );
      expect(status).to.equal(200);
      expect(body).to.include({ pages: 3 });
      expect(reminders).to.have.lengthOf(1);
    });

    it('answers 409 from an illegal state', async () => {
      const { id } = await created();
      await send('PUT', `/books/${id}/lose`);
      const { status, codes, messages } = await send('PUT', `/books/${id}/lend`);
      expect([status, ...codes]).to.deep.equal([409, 40902]);
      expect(messages).to.equal(`book "${id}" is lost; lend is possible from available`);
    });

    it('answers 405 to other methods', async () => {
      const { status, headers } = await send('POST', '/books/x/lend', {});
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('PUT, OPTIONS');
    });

    it('answers 404 to an unknown verb', async () => {
      expect((await send('PUT', '/books/x/burn')).codes).to.deep.equal([40401]);
    });

    it('enqueues its job if and only if it commits', async () => {
      const { id } = await created({ pages: 99_999 });
      await api.database.query(
        'alter table library.book add constraint short check (pages < 100000) not valid',
      );
      const { status } = await send('PUT', `/books/${id}/lend`);
      const reminders = await api.database.query(
        "select 1 from library.reminder where args ->> 'book' = $1",
        [id],
      );
      expect(status).to.equal(422);
      expect(reminders).to.deep.equal([]);
    });
  });

  describe('Prefer: respond-async', () => {
    it('answers 202 with the location of the job', async () => {
      const { id } = await created();
      const { status, headers } = await send('PUT', `/books/${id}/lend`, undefined, {
        prefer: 'respond-async',
      });
      expect(status).to.equal(202);
      expect(headers.get('location')).to.match(/^https:\/\/api\.example\.com\/api\/v1\/jobs\/[0-9a-f-]{36}$/);
    });
  });
});
