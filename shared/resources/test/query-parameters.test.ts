import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, serveLibrary } from './support/library.js';

const rows: readonly (readonly [
  title: string,
  author: string,
  status: string,
  pages: number | null,
  price: number,
  created: string,
])[] = [
  ['Emma', 'austen', 'available', 474, 9.5, '2026-01-01T00:00:00Z'],
  ['Persuasion', 'austen', 'lent', 249, 8, '2026-01-02T00:00:00Z'],
  ['Middlemarch', 'eliot', 'available', 880, 12, '2026-01-03T00:00:00Z'],
  ['Silas Marner', 'eliot', 'lost', null, 7, '2026-01-04T00:00:00Z'],
  ['100% true_story', 'eliot', 'sold', 10, 1, '2026-01-05T00:00:00.123456Z'],
];

describe('Query parameters on collections', () => {
  let api: Library;
  before(async () => {
    api = await serveLibrary();
    for (const [title, author, status, pages, price, created] of rows) {
      await api.database.query(
        `insert into library.book (title, author_id, status, pages, price, created_at, tags, details)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [title, author, status, pages, price, created, [author, 'novel'], { shelf: { row: pages } }],
      );
    }
  });
  after(() => api.close());

  const get = (query: string): Promise<Answer> => api.call(`/api/v1/books${query}`);
  const titles = async (query: string): Promise<string[]> => {
    const { body, status } = await get(query);
    expect(status, query).to.equal(200);
    return (body as { title: string }[]).map(({ title }) => title);
  };

  describe('a field’s name', () => {
    const cases: Readonly<Record<string, [query: string, expected: string[]]>> = {
      'exact is case-sensitive': ['?authorId=Austen', []],
      'exact, repeated, matches any of the values': [
        '?status=lent&status=lost&sort=title',
        ['Persuasion', 'Silas Marner'],
      ],
      'exact on an array contains the value': ['?tag=austen&sort=title', ['Emma', 'Persuasion']],
      'partial is a case-insensitive substring': ['?title=MARCH', ['Middlemarch']],
      'partial takes % literally': ['?title=%25', ['100% true_story']],
      'partial takes _ literally': ['?title=_', ['100% true_story']],
      'partial takes a backslash literally': ['?title=%5C', []],
      'a path reaches into a JSON field': ['?details.shelf.row=880', ['Middlemarch']],
      'several filters all hold': ['?authorId=eliot&status=available', ['Middlemarch']],
    };
    for (const [name, [query, expected]] of Object.entries(cases)) {
      it(name, async () => expect(await titles(query)).to.deep.equal(expected));
    }

    it('a value that the field cannot have is 400', async () => {
      expect((await get('?status=burnt')).codes).to.deep.equal([40003]);
    });
  });

  describe('declared ranges', () => {
    it('are inclusive', async () => {
      expect(await titles('?minPages=249&maxPages=474&sort=title')).to.deep.equal(['Emma', 'Persuasion']);
    });

    it('take fractions on integer fields', async () => {
      expect(await titles('?minPages=473.5&maxPages=474.5')).to.deep.equal(['Emma']);
    });

    it('take times with a zone whose + was decoded as a space', async () => {
      const query = '?createdAfter=2026-01-01T02:00:00+02:00&createdBefore=2026-01-01T00:00:00Z';
      expect(await titles(query)).to.deep.equal(['Emma']);
    });

    it('take a date as its start in UTC', async () => {
      expect(await titles('?createdBefore=2026-01-01')).to.deep.equal(['Emma']);
    });

    for (const query of [
      '?minPages=many',
      '?minPages=',
      '?createdAfter=2026-02-30',
      '?createdAfter=yesterday',
      '?minPages=1&minPages=2',
    ]) {
      it(`${query} is 400`, async () => expect((await get(query)).codes).to.deep.equal([40003]));
    }
  });

  describe('q', () => {
    it('finds a substring', async () => expect(await titles('?q=arch')).to.deep.equal(['Middlemarch']));
    it('finds one-letter typos', async () =>
      expect(await titles('?q=Persuasoin')).to.deep.equal(['Persuasion']));
    it('finds a typo in a short word', async () => expect(await titles('?q=Emna')).to.deep.equal(['Emma']));
    it('puts the best match first', async () =>
      expect((await titles('?q=Marner'))[0]).to.equal('Silas Marner'));
    it('obeys an explicit sort', async () => {
      expect(await titles('?q=ma&sort=-title')).to.deep.equal(
        (await titles('?q=ma&sort=title')).toReversed(),
      );
    });
    it('is also a path', async () => {
      const { body, headers } = await get('/search/emma?fields=title');
      expect(body).to.deep.equal([{ title: 'Emma' }]);
      expect(headers.get('link')).to.contain('/api/v1/books/search/emma?fields=title&limit=20&offset=0');
    });
    it('must not be empty', async () => expect((await get('?q=')).codes).to.deep.equal([40003]));
    it('is 400 if the resource has no search', async () => {
      const [{ id }] = (await get('?limit=1&fields=id')).body as [{ id: string }];
      expect((await api.call(`/api/v1/books/${id}/chapters?q=one`)).codes).to.deep.equal([40002]);
    });
    it('searches all text fields unless the definition names some', async () => {
      const found = async (query: string): Promise<unknown> =>
        (await api.call(`/api/v1/authors?q=${query}&fields=id`)).body;
      expect([await found('jnae@example.com'), await found('Elliot')]).to.deep.equal([
        [{ id: 'austen' }],
        [{ id: 'eliot' }],
      ]);
    });
    it('does not select items to delete', async () => {
      await api.database.query("insert into library.author values ('sand', 'George Sand', null)");
      const refused = await api.call('/api/v1/authors?q=Sand', { method: 'DELETE' });
      expect(refused.codes).to.deep.equal([40002]);
      expect(refused.messages).to.contain('q is only for reading');
      expect((await api.call('/api/v1/authors?name=Sand', { method: 'DELETE' })).status).to.equal(204);
      expect((await api.call('/api/v1/authors?fields=id')).body).to.deep.equal([
        { id: 'austen' },
        { id: 'eliot' },
      ]);
    });
  });

  describe('sort', () => {
    for (const field of ['id', 'title', 'authorId', 'status', 'price', 'createdAt']) {
      it(`takes ${field}, which has a single value`, async () =>
        expect(await titles(`?sort=-${field}`)).to.deep.equal((await titles(`?sort=${field}`)).toReversed()));
    }
    const byPagesUp = ['100% true_story', 'Persuasion', 'Emma', 'Middlemarch', 'Silas Marner'];
    for (const query of ['?sort=+pages', '?sort=%2Bpages', '?sort=%20pages', '?sort=pages']) {
      it(`${query} is ascending`, async () => expect(await titles(query)).to.deep.equal(byPagesUp));
    }
    it('a minus is descending, and null comes last in both directions', async () =>
      expect(await titles('?sort=-pages')).to.deep.equal([
        'Middlemarch',
        'Emma',
        'Persuasion',
        '100% true_story',
        'Silas Marner',
      ]));
    it('takes several fields', async () => {
      await api.database.query(
        `insert into library.book (title, author_id, pages, price) values ('Emma', 'eliot', 1, 1)`,
      );
      const { body } = await get('?sort=title,-pages&title=emma&fields=pages');
      await api.database.query('delete from library.book where pages = 1');
      expect(body).to.deep.equal([{ pages: 474 }, { pages: 1 }]);
    });
    for (const query of [
      '?sort=colour',
      '?sort=',
      '?sort=title,',
      '?sort=title,-title',
      '?sort=details',
      '?sort=tags',
      '?sort=a&sort=b',
    ]) {
      it(`${query} is 400`, async () => expect((await get(query)).codes).to.deep.equal([40003]));
    }
  });

  describe('fields', () => {
    it('returns exactly those fields', async () => {
      expect((await get('?title=emma&fields=pages,title')).body).to.deep.equal([
        { pages: 474, title: 'Emma' },
      ]);
    });
    for (const query of ['?fields=colour', '?fields=', '?fields=title,title']) {
      it(`${query} is 400`, async () => expect((await get(query)).codes).to.deep.equal([40003]));
    }
  });

  describe('limit, offset', () => {
    it('limit 0 gives no items and the count', async () => {
      const { body, headers } = await get('?limit=0');
      expect(body).to.deep.equal([]);
      expect(headers.get('x-total-count')).to.equal('5');
    });
    it('an offset past the end gives no items and the count', async () => {
      const { body, headers } = await get('?offset=100');
      expect(body).to.deep.equal([]);
      expect(headers.get('x-total-count')).to.equal('5');
    });
    it('repeat no paging parameter, even if its name is percent-encoded', async () => {
      const link = (await get('?%6Cimit=1&title=a')).headers.get('link') ?? '';
      expect(link).to.contain('?title=a&limit=1>; rel="first"').and.not.contain('%6Cimit');
    });
    it('the default limit is 20', async () => {
      expect((await get('')).headers.get('link')).to.contain('limit=20>; rel="first"');
    });
    for (const query of [
      '?limit=1001',
      '?limit=-1',
      '?limit=1.5',
      '?limit=',
      '?limit=1e2',
      '?offset=-1',
      '?offset=x',
    ]) {
      it(`${query} is 400`, async () => expect((await get(query)).codes).to.deep.equal([40003]));
    }
  });

  describe('anything else', () => {
    it('is 400 and named', async () => {
      const { codes, messages } = await get('?colour=red');
      expect(codes).to.deep.equal([40002]);
      expect(messages).to.contain('"colour"');
    });
    it('is case-sensitive', async () => expect((await get('?Limit=1')).codes).to.deep.equal([40002]));
  });
});
