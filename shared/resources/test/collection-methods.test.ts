import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, newBook, serveLibrary } from './support/library.js';

interface Book {
  readonly id: string;
  readonly title: string;
  readonly pages?: number;
  readonly [field: string]: unknown;
}

describe('Methods of collections', () => {
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
      const changed = { createdAt: '2000-01-01T00:00:00Z' };
      const { codes, messages } = await send('PUT', '/books', [
        { ...good, title: 'Changed' },
        { ...(await created()), ...changed },
        { ...(await created()), ...changed },
      ]);
      expect(codes).to.deep.equal([42202, 42202]);
      expect(messages).to.match(/\[1\]\.createdAt.*\n\[2\]\.createdAt/s);
      expect((await send('GET', `/books/${good.id}`)).body).to.deep.equal(good);
    });

    it('reports only unknown ids if there are other problems, too', async () => {
      const unknown = { ...(await created()), id: '00000000-0000-4000-8000-000000000000' };
      const wrong = { ...(await created()), createdAt: '2000-01-01T00:00:00Z' };
      const { status, codes } = await send('PUT', '/books', [wrong, unknown]);
      expect([status, codes]).to.deep.equal([404, [40402]]);
    });

    it('names an invalid field of an element by its path', async () => {
      const { messages } = await send('PUT', '/books', [{ ...(await created()), title: 7 }]);
      expect(messages).to.equal('[0].title must be string');
    });

    it('refuses a duplicate id with 422', async () => {
      const book = await created();
      const { codes, messages } = await send('PUT', '/books', [book, book]);
      expect(codes).to.deep.equal([42202]);
      expect(messages).to.contain('[1].id');
    });
  });

  for (const method of ['POST', 'PUT']) {
    it(`${method} with an empty array is 422`, async () => {
      const { codes, messages } = await send(method, '/books', []);
      expect(codes).to.deep.equal([42202]);
      expect(messages).to.contain('at least one element');
    });
  }

  it('PUT changes as many items as the document allows', async () => {
    await api.database.query(
      `insert into library.book (title, author_id, price) select 'Many ' || n, 'austen', 1 from generate_series(1, 1200) n`,
    );
    const ids = await api.database.query("select id from library.book where title like 'Many %'");
    const changes = ids.map((row) => newBook({ id: (row as { id: string }).id, title: 'One of many' }));
    const { status, body } = await send('PUT', '/books', changes);
    await api.database.query("delete from library.book where title = 'One of many'");
    expect([status, (body as Book[]).length]).to.deep.equal([200, 1_200]);
  });

  it('PUT refuses items that are too large to be changed together', async () => {
    await api.database.query(
      `insert into library.book (title, author_id, price, details)
       select 'Heavy', 'austen', 1, jsonb_build_object('isbn', repeat('x', 1000000)) from generate_series(1, 17)`,
    );
    const ids = await api.database.query("select id from library.book where title = 'Heavy'");
    const changes = ids.map((row) => newBook({ id: (row as { id: string }).id, title: 'Light' }));
    const { codes, messages } = await send('PUT', '/books', changes);
    const changed = await api.database.query("delete from library.book where title = 'Heavy' returning id");
    expect([codes, changed.length]).to.deep.equal([[41301], 17]);
    expect(messages).to.contain('send fewer items');
  });

  describe('GET collection with If-None-Match', () => {
    const known = async (path: string): Promise<RequestInit> => {
      const etag = (await send('GET', path)).headers.get('etag') ?? '';
      expect(etag).to.match(/^W\//);
      return { headers: { 'if-none-match': etag } };
    };

    it('is 304 while the page is the same', async () => {
      const init = await known('/books?limit=2');
      const { status, text } = await api.call('/api/v1/books?limit=2', init);
      expect([status, text]).to.deep.equal([304, '']);
    });

    it('is 200 once there is another item, although not on this page', async () => {
      await created();
      const init = await known('/books?limit=1&sort=createdAt');
      await created();
      expect((await api.call('/api/v1/books?limit=1&sort=createdAt', init)).status).to.equal(200);
    });
  });

  describe('DELETE collection', () => {
    it('deletes the items that match the filters', async () => {
      await created({ title: 'Doomed by name' });
      await created({ title: 'Spared by name' });
      const { status, text } = await send('DELETE', '/books?title=doomed%20BY');
      expect([status, text]).to.deep.equal([204, '']);
      expect((await send('GET', '/books?title=by%20name')).body).to.have.lengthOf(1);
    });

    it('says in X-Total-Count how many it has deleted, also below a parent and to a repetition', async () => {
      const countOf = async (path: string, headers?: Record<string, string>): Promise<string | null> => {
        const answer = await send('DELETE', path, undefined, headers);
        expect(answer.status).to.equal(204);
        return answer.headers.get('x-total-count');
      };
      for (const title of ['Counted 1', 'Counted 2', 'Counted 3', 'Numbered 1', 'Keyed 1', 'Keyed 2'])
        await created({ title });
      expect(await countOf('/books?title=counted')).to.equal('3');
      expect(await countOf('/books?title=counted')).to.equal('0');
      expect(await countOf('/authors/austen/books?title=numbered')).to.equal('1');
      const key = { 'idempotency-key': 'delete-counted' };
      expect(await countOf('/books?title=keyed', key)).to.equal('2');
      expect(await countOf('/books?title=keyed', key)).to.equal('2');
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

  describe('paths', () => {
    for (const path of ['/Books', '/authors/austen/Books', '/books/Search/x', '/BOOKS?limit=1'])
      it(`match words without regard to case: ${path} is 200`, async () => {
        expect((await send('GET', path)).status).to.equal(200);
      });

    for (const path of [
      '/API/v1/books',
      '/api/V1/books',
      '/Errors/40401',
      '/Api/V1/OpenAPI.json',
      '/API/V1/Docs',
    ])
      it(`match words outside of the version, too: ${path} is 200`, async () => {
        expect((await api.call(path)).status).to.equal(200);
      });

    it('match ids exactly, because they are data', async () => {
      expect((await send('GET', '/authors/AUSTEN')).status).to.equal(404);
    });

    it('are the same with a trailing slash for reading', async () => {
      for (const path of ['/books/', '/authors/austen/', '/authors/austen/books/'])
        expect((await send('GET', path)).status, path).to.equal(200);
      expect((await send('OPTIONS', '/books/')).headers.get('allow')).to.equal('GET, HEAD, OPTIONS');
    });

    for (const [method, path] of [
      ['DELETE', '/books/'],
      ['POST', '/books/'],
      ['PUT', '/books/'],
      ['PATCH', '/books/'],
      ['DELETE', '/authors/austen/books/'],
      ['DELETE', '/books//'],
      ['DELETE', '/books/%20/'],
      ['PUT', '/books//lend'],
      ['GET', '/authors//books'],
      ['DELETE', '/authors//books'],
    ] as const)
      it(`${method} ${path}, where an id is missing, is 404 and changes nothing`, async () => {
        const { body: before } = await send('GET', '/books');
        const { status, codes } = await send(
          method,
          path,
          ['GET', 'DELETE'].includes(method) ? undefined : {},
        );
        expect([status, codes]).to.deep.equal([404, [40401]]);
        expect((await send('GET', '/books')).body).to.deep.equal(before);
      });

    for (const path of ['/books/%zz', '/books/%00', '/books?title=%zz', '/books?title=%00', '/books/%ff']) {
      it(`answers 400 to ${path}`, async () => {
        expect((await send('GET', path)).codes).to.deep.equal([40003]);
      });
    }
  });
});
