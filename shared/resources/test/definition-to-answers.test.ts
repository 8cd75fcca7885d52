import { expect } from 'chai';
import { serve, type TestApi } from './support/api.js';
import { shelvesAndBooks } from './support/shelves.js';

describe('The example of the README', () => {
  let api: TestApi;
  before(async () => (api = await serve({ resources: shelvesAndBooks() })));
  after(() => api.close());

  it('creates an item and returns its location', async () => {
    const { status, headers, body } = await api.call('/api/v1/books', {
      method: 'POST',
      json: { title: 'Emma', shelf: 'left' },
    });
    expect(status).to.equal(201);
    expect(headers.get('location')).to.equal('https://api.example.com/api/v1/books/1');
    expect(headers.get('etag')).to.match(/^"[\w-]{27}"$/);
    expect(body).to.deep.equal({
      id: 1,
      title: 'Emma',
      shelf: 'left',
      state: 'available',
      addedAt: '2026-01-01T00:00:00Z',
    });
  });

  it('lists a collection with its count and links', async () => {
    const { status, headers, body } = await api.call('/api/v1/books?shelf=left&limit=1');
    expect(status).to.equal(200);
    expect(headers.get('x-total-count')).to.equal('1');
    expect(headers.get('link')).to.equal(
      '<https://api.example.com/api/v1/books?shelf=left&limit=1&offset=0>; rel="first", ' +
        '<https://api.example.com/api/v1/books?shelf=left&limit=1&offset=0>; rel="last"',
    );
    expect(body).to.have.lengthOf(1);
  });

  it('lists and creates below a parent', async () => {
    const created = await api.call('/api/v1/shelves/right/books', {
      method: 'POST',
      json: { title: 'Persuasion' },
    });
    const listed = await api.call('/api/v1/shelves/right/books?fields=title,shelf');
    expect(created.status).to.equal(201);
    expect(listed.body).to.deep.equal([{ title: 'Persuasion', shelf: 'right' }]);
  });

  it('names a missing parent', async () => {
    const { codes, messages } = await api.call('/api/v1/shelves/top/books');
    expect(codes).to.deep.equal([40402]);
    expect(messages).to.equal('There is no shelf "top" here');
  });

  it('performs an operation once', async () => {
    const lend = () => api.call('/api/v1/books/1/lend', { method: 'PUT', json: { days: 7 } });
    const first = await lend();
    const second = await lend();
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(second.body).to.include({ state: 'lent' });
  });

  it('patches an item', async () => {
    const { status, body } = await api.call('/api/v1/books/1', { method: 'PATCH', json: { pages: 474 } });
    expect(status).to.equal(200);
    expect(body).to.include({ pages: 474, title: 'Emma' });
  });

  it('answers a known ETag with 304', async () => {
    const { headers } = await api.call('/api/v1/books/1');
    const again = await api.call('/api/v1/books/1', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(again.status).to.equal(304);
    expect(again.text).to.equal('');
  });

  it('allows only what the storage serves', async () => {
    const { status, headers, codes } = await api.call('/api/v1/books/1', { method: 'DELETE' });
    expect(status).to.equal(405);
    expect(codes).to.deep.equal([40501]);
    expect(headers.get('allow')).to.equal('GET, HEAD, PATCH, OPTIONS');
  });

  it('reports all problems of a body at once', async () => {
    const { status, codes } = await api.call('/api/v1/books', {
      method: 'POST',
      json: { title: '', size: 'L' },
    });
    expect(status).to.equal(422);
    expect(codes).to.have.members([42201, 42202, 42203]);
  });

  it('has no cursors if the storage does not seek', async () => {
    expect((await api.call('/api/v1/books?after=x')).codes).to.deep.equal([40002]);
  });

  it('reports all problems of a query at once', async () => {
    const { status, codes } = await api.call('/api/v1/books?size=L&limit=-1&sort=size&addedAfter=soon');
    expect(status).to.equal(400);
    expect(codes).to.deep.equal([40002, 40003, 40003, 40003]);
  });
});
