import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, serveLibrary } from './support/library.js';

describe('Large collections', () => {
  let api: Library;
  before(async () => {
    api = await serveLibrary();
    await api.database.query(`
      insert into library.book (title, author_id, price, pages, created_at)
      select 'Volume ' || n, 'austen', 1, nullif(n % 100, 0), timestamptz '2026-01-01' + n * interval '1 microsecond'
      from generate_series(1, 12000) n`);
    await api.database.query('analyze library.book');
  });
  after(() => api.close());

  const nextOf = (answer: Answer, relation: string): string | undefined =>
    new RegExp(`<https://api\\.example\\.com([^>]*)>; rel="${relation}"`).exec(
      answer.headers.get('link') ?? '',
    )?.[1];

  for (const sort of ['-createdAt', 'pages', '-pages,createdAt', 'title']) {
    it(`the next links visit every item once, sorted by ${sort}`, async () => {
      const seen = new Set<string>();
      let next: string | undefined = `/api/v1/books?sort=${sort}&limit=1000&fields=id`;
      let pages = 0;
      while (next !== undefined) {
        const answer = await api.call(next);
        expect(answer.status).to.equal(200);
        for (const { id } of answer.body as { id: string }[]) seen.add(id);
        next = nextOf(answer, 'next');
        pages += 1;
        if (next !== undefined) expect(next).to.contain('after=');
      }
      expect([seen.size, pages]).to.deep.equal([12_000, 12]);
    });
  }

  it('the next links repeat no item that others push down', async () => {
    const seen: string[] = [];
    let next: string | undefined = '/api/v1/books?sort=-createdAt&limit=100&fields=id&title=Volume%2011';
    while (next !== undefined) {
      const answer = await api.call(next);
      seen.push(...(answer.body as { id: string }[]).map(({ id }) => id));
      await api.database.query(
        `insert into library.book (title, author_id, price) select 'Volume 11 new', 'austen', 1 from generate_series(1, 5)`,
      );
      next = nextOf(answer, 'next');
    }
    await api.database.query("delete from library.book where title = 'Volume 11 new'");
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen).to.have.length.above(1_000);
  });

  it('the links of a page by offset are by offset', async () => {
    const answer = await api.call('/api/v1/books?limit=5&offset=5');
    expect([nextOf(answer, 'next'), nextOf(answer, 'prev'), nextOf(answer, 'first')]).to.deep.equal([
      '/api/v1/books?limit=5&offset=10',
      '/api/v1/books?limit=5&offset=0',
      '/api/v1/books?limit=5&offset=0',
    ]);
  });

  it('the prev link leads back to the same page', async () => {
    const first = await api.call('/api/v1/books?sort=pages&limit=50');
    const second = await api.call(nextOf(first, 'next') ?? '');
    const back = await api.call(nextOf(second, 'prev') ?? '');
    expect(back.body).to.deep.equal(first.body);
  });

  for (const sort of ['-createdAt', 'title']) {
    it(`the last link leads to the end, sorted by ${sort}`, async () => {
      const first = await api.call(`/api/v1/books?sort=${sort}&limit=50&fields=id`);
      const last = await api.call(nextOf(first, 'last') ?? '/none');
      const reversed = sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
      const [end] = (await api.call(`/api/v1/books?sort=${reversed}&limit=1&fields=id`)).body as [object];
      expect((last.body as object[]).at(-1)).to.deep.equal(end);
      expect([last.body, nextOf(last, 'next')]).to.satisfy(
        ([items, next]: [object[], unknown]) => items.length === 50 && next === undefined,
      );
      const before = await api.call(nextOf(last, 'prev') ?? '/none');
      expect(nextOf(before, 'next')).to.be.a('string');
    });
  }

  it('the count is an estimate beyond 10 000 rows, and says so', async () => {
    const { headers } = await api.call('/api/v1/books?limit=1');
    expect(headers.get('preference-applied')).to.equal('count=estimated');
    expect(Number(headers.get('x-total-count'))).to.be.within(11_000, 13_000);
  });

  it('Prefer: count=exact forces the count', async () => {
    const { headers } = await api.call('/api/v1/books?limit=1', { headers: { prefer: 'count=exact' } });
    expect(headers.get('x-total-count')).to.equal('12000');
    expect(headers.get('preference-applied')).to.equal('count=exact');
  });

  it('Prefer: count=none skips it', async () => {
    const { headers } = await api.call('/api/v1/books?limit=1', { headers: { prefer: 'count=none' } });
    expect(headers.has('x-total-count')).to.equal(false);
  });

  it('an offset reaches the first ten thousand', async () => {
    const { body } = await api.call('/api/v1/books?sort=createdAt&limit=1&offset=10000');
    expect(body).to.have.nested.property('[0].title', 'Volume 10001');
    expect((await api.call('/api/v1/books?offset=10001')).codes).to.deep.equal([40003]);
  });

  for (const query of ['?after=x', '?after=W10', '?after=WyJpZCJd&offset=1', '?after=a&before=b']) {
    it(`${query} is 400`, async () =>
      expect((await api.call(`/api/v1/books${query}`)).codes).to.deep.equal([40003]));
  }

  it('a cursor of another order is 400', async () => {
    const next = nextOf(await api.call('/api/v1/books?sort=title'), 'next') ?? '';
    expect((await api.call(next.replace('sort=title', 'sort=pages'))).codes).to.deep.equal([40003]);
  });
});
