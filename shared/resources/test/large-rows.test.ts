import { expect } from 'chai';
import type { Answer } from './support/api.js';
import { type Library, serveLibrary } from './support/library.js';

describe('Pages of a table whose rows have half a megabyte each', () => {
  let api: Library;
  before(async () => {
    api = await serveLibrary();
    await api.database.query(`
      insert into library.book (title, author_id, price, details, created_at)
      select 'Volume ' || n, 'austen', 1, jsonb_build_object('text', repeat('x', 500000)), timestamptz '2026-01-01' + n * interval '1 second'
      from generate_series(1, 20) n`);
  });
  after(() => api.close());

  const linkTo = (answer: Answer, relation: string): string | undefined =>
    new RegExp(`<https://api\\.example\\.com([^>]*)>; rel="${relation}"`).exec(
      answer.headers.get('link') ?? '',
    )?.[1];
  const idsOf = (answer: Answer): string[] => (answer.body as { id: string }[]).map(({ id }) => id);

  for (const query of ['sort=createdAt', 'q=Volume']) {
    it(`end after 4 MiB and lead to all of them, with ${query}`, async () => {
      const seen = new Set<string>();
      const sizes: number[] = [];
      for (let next: string | undefined = `/api/v1/books?${query}&limit=20`; next !== undefined;) {
        const answer = await api.call(next);
        const ids = idsOf(answer);
        for (const id of ids) seen.add(id);
        sizes.push(ids.length);
        next = linkTo(answer, 'next');
      }
      expect([sizes, seen.size]).to.deep.equal([[8, 8, 4], 20]);
    });
  }

  it('lead back as they lead on', async () => {
    const first = await api.call('/api/v1/books?sort=createdAt&limit=20');
    const second = await api.call(linkTo(first, 'next') ?? '');
    const back = await api.call(linkTo(second, 'prev') ?? '');
    expect(idsOf(back)).to.deep.equal(idsOf(first));
  });

  it('have all rows if the large field is not asked for', async () => {
    expect(idsOf(await api.call('/api/v1/books?limit=20&fields=id,title'))).to.have.lengthOf(20);
  });
});
