import { expect } from 'chai';
import { pageOf } from '../src/pages/list-page.js';
import { openSite, type Site } from './dashboard-site.js';

describe('the list of jobs', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  const list = async (
    path: string,
  ): Promise<{ ids: string[]; next: string | null; previous: string | null }> => {
    const { text } = await site.http.get(`/job-dashboard/${path}`);
    const link = (rel: string): string | null =>
      new RegExp(`rel="${rel}" href="\\./([^"]*)"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
    const ids = Array.from(
      text.matchAll(/class="name" href="\.\/jobs\/([\da-f-]{36})"/g),
      (match) => match[1] ?? '',
    );
    return { ids, next: link('next'), previous: link('prev') };
  };

  for (const order of ['newest', 'oldest'] as const) {
    it(`pages ${order} first through every job once, and back again`, async () => {
      const first = await list(`jobs?order=${order}`);
      const second = await list(first.next ?? '');
      const back = await list(second.previous ?? '');
      const allIds = [...first.ids, ...second.ids];
      expect(allIds).to.have.lengthOf(98);
      expect(allIds.toSorted()).to.deep.equal(order === 'oldest' ? allIds : allIds.toReversed());
      expect([first.previous, second.next]).to.deep.equal([null, null]);
      expect(back.ids).to.deep.equal(first.ids);
    });
  }

  it('keeps its filters from page to page', async () => {
    const { next } = await list('jobs?state=done&queue=images');
    const { ids } = await list(next ?? '');
    expect(next).to.include('state=done').and.include('queue=images');
    expect(ids).to.have.lengthOf(10);
  });
});

describe('a list in memory', () => {
  for (const [page, rows] of [
    ['1', ['a', 'b']],
    ['2', ['c']],
    ['99', ['c']],
    ['1e400', ['c']],
    ['0', ['a', 'b']],
    ['-1', ['a', 'b']],
    ['x', ['a', 'b']],
  ] as const) {
    it(`has a non-empty page ${page}`, () => {
      expect(pageOf(['a', 'b', 'c'], new URLSearchParams({ page }), 2).rows).to.deep.equal(rows);
    });
  }

  it('can be empty', () => {
    expect(pageOf([], new URLSearchParams({ page: '7' }), 2)).to.deep.equal({
      rows: [],
      total: 0,
      page: 1,
      pages: 1,
    });
  });
});
