import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

interface Book {
  readonly id: string;
  readonly title: string;
  readonly pages?: number;
  readonly [field: string]: unknown;
}

describe('Methods', () => {
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

  describe('GET collection', () => {
    it('answers a bare array with X-Total-Count and links that keep all other parameters', async () => {
      for (const title of ['P1', 'P2', 'P3']) await created({ title });
      const { status, body, headers } = await send('GET', '/books?title=P&sort=title&limit=1&offset=1');
      expect(status).to.equal(200);
      expect(body).to.have.lengthOf(1).and.have.nested.property('[0].title', 'P2');
      expect(headers.get('x-total-count')).to.equal('3');
      const url = 'https://api.example.com/api/v1/books?title=P&sort=title&limit=1&offset=';
      expect(headers.get('link')).to.equal(
        `<${url}0>; rel="first", <${url}0>; rel="prev", <${url}2>; rel="next", <${url}2>; rel="last"`,
      );
    });
  });

  describe('POST collection', () => {
    it('answers 201 with Location, ETag and the full item', async () => {
      const { status, headers, body } = await send('POST', '/books', newBook({ tags: ['novel'] }));
      const { id } = body as Book;
      expect(status).to.equal(201);
      expect(headers.get('location')).to.equal(`https://api.example.com/api/v1/books/${id}`);
      expect(headers.get('etag')).to.match(/^"[^"]+"$/);
      expect(body)
        .to.include({ title: 'Emma', price: 9.5, status: 'available' })
        .and.deep.include({ tags: ['novel'] });
    });

    it('refuses an unknown field with 422', async () => {
      const { status, codes } = await send('POST', '/books', newBook({ colour: 'red' }));
      expect([status, ...codes]).to.deep.equal([422, 42203]);
    });

    it('creates all items of an array or none', async () => {
      const good = await send('POST', '/books', [newBook({ title: 'A1' }), newBook({ title: 'A2' })]);
      const bad = await send('POST', '/books', [newBook({ title: 'A3' }), newBook({ authorId: 'nobody' })]);
      expect(good.body).to.have.nested.property('[1].title', 'A2');
      expect(bad.codes).to.deep.equal([42202]);
      expect((await send('GET', '/books?title=A3')).body).to.deep.equal([]);
    });
  });

  describe('PUT collection', () => {
    it('updates the listed items in request order and leaves the others', async () => {
      const [one, two, three] = [await created(), await created(), await created()];
      const { status, body } = await send('PUT', '/books', [
        { ...two, title: 'Two' },
        { ...one, title: 'One' },
      ]);
      expect(status).to.equal(200);
      expect((body as Book[]).map(({ title }) => title)).to.deep.equal(['Two', 'One']);
      expect((await send('GET', `/books/${three.id}`)).body).to.deep.equal(three);
    });

    it('writes nothing on any failure and reports every bad element', async () => {
      const good = await created();
      const unknown = { ...good, id: '00000000-0000-4000-8000-000000000000' };
      const other = await created();
      const { status, messages } = await send('PUT', '/books', [
        { ...good, title: 'Changed' },
        unknown,
        { ...other, createdAt: '2000-01-01T00:00:00Z' },
      ]);
      expect(status).to.equal(404);
      expect(messages).to.match(/\[1\].*\n\[2\]\.createdAt/s);
      expect((await send('GET', `/books/${good.id}`)).body).to.deep.equal(good);
    });

    it('refuses a duplicate id with 422', async () => {
      const book = await created();
      const { codes, messages } = await send('PUT', '/books', [book, book]);
      expect(codes).to.deep.equal([42202]);
      expect(messages).to.contain('[1].id');
    });
  });

  describe('DELETE collection', () => {
    it('deletes what the filters leave', async () => {
      await created({ title: 'Doomed by name' });
      await created({ title: 'Spared by name' });
      const { status, text } = await send('DELETE', '/books?title=doomed%20BY');
      expect([status, text]).to.deep.equal([204, '']);
      expect((await send('GET', '/books?title=by%20name')).body).to.have.lengthOf(1);
    });

    it('deletes nothing if a parameter is unknown', async () => {
      const { status, codes } = await send('DELETE', '/books?colour=red');
      expect([status, ...codes]).to.deep.equal([400, 40002]);
      expect((await send('GET', '/books')).body).to.have.length.above(0);
    });

    for (const parameter of ['limit=1', 'offset=1', 'sort=title', 'fields=title']) {
      it(`refuses ${parameter} with 400`, async () => {
        expect((await send('DELETE', `/books?${parameter}`)).codes).to.deep.equal([40002]);
      });
    }
  });

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

    it('needs If-Match where the resource requires it', async () => {
      const author = { id: 'austen', name: 'J. Austen', email: null };
      expect((await send('PUT', '/authors/austen', author)).codes).to.deep.equal([42801]);
    });

    it('lets exactly one of two writers with the same ETag win', async () => {
      const { id } = await created();
      const etag = (await send('GET', `/books/${id}`)).headers.get('etag') ?? '';
      const put = (title: string) => send('PUT', `/books/${id}`, newBook({ title }), { 'if-match': etag });
      const statuses = (await Promise.all([put('First'), put('Second')])).map(({ status }) => status);
      expect(statuses.toSorted()).to.deep.equal([200, 412]);
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

    it('checks what it merged', async () => {
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

  describe('sub-collection, sub-item', () => {
    it('follow the same rules', async () => {
      const { id } = await created();
      const made = await send('POST', `/books/${id}/chapters`, { heading: 'I' });
      const path = `/books/${id}/chapters/${(made.body as { id: number }).id}`;
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
        const chapter = made.body as { id: number };
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

    it('check each parent within its own', async () => {
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

    it('has no second effect in the target state', async () => {
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

  describe('HEAD, OPTIONS', () => {
    it('HEAD answers as GET without a body', async () => {
      const get = await send('GET', '/books?limit=2');
      const head = await send('HEAD', '/books?limit=2');
      expect([head.status, head.text]).to.deep.equal([200, '']);
      for (const name of ['x-total-count', 'link', 'content-type', 'content-length']) {
        expect(head.headers.get(name), name).to.equal(get.headers.get(name));
      }
    });

    it('OPTIONS answers 204 with Allow', async () => {
      const { status, headers } = await send('OPTIONS', '/books');
      expect(status).to.equal(204);
      expect(headers.get('allow')).to.equal('GET, HEAD, POST, PUT, DELETE, OPTIONS');
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

  describe('paths', () => {
    it('are matched without regard to case while the id keeps its case', async () => {
      expect((await send('GET', '/AUTHORS/austen')).status).to.equal(200);
      expect((await send('GET', '/authors/AUSTEN')).status).to.equal(404);
    });

    it('are the same with a trailing slash', async () => {
      expect((await send('GET', '/authors/austen/')).status).to.equal(200);
    });

    for (const path of ['/books/%zz', '/books/%00', '/books?title=%zz', '/books?title=%00', '/books/%ff']) {
      it(`answers 400 to ${path}`, async () => {
        expect((await send('GET', path)).codes).to.deep.equal([40003]);
      });
    }
  });
});
