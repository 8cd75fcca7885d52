import { expect } from 'chai';
import { parseSearch, searchText } from '../src/search/search.js';
import { openSite } from './dashboard-site.js';

const id = '0198c0de-0000-7000-8000-00000000abcd';

describe('a search', () => {
  for (const text of [
    id,
    ` ${id}\n`,
    id.toUpperCase(),
    `id:${id}`,
    `https://example.com/jobs/${id}?x=1`,
    `job "${id}" failed`,
  ]) {
    it(`finds the id in ${JSON.stringify(text)}`, () => {
      expect(parseSearch(text)).to.deep.equal({ kind: 'job', id });
    });
  }

  for (const [text, filters] of [
    ['', {}],
    ['send-invoice', { name: ['send-invoice'] }],
    ['mail:send', { name: ['mail:send'] }],
    ['name:a name:b', { name: ['a', 'b'] }],
    ['queue:mail state:failed', { queue: ['mail'], state: 'failed' }],
    ['QUEUE:Mail State:FAILED', { queue: ['Mail'], state: 'failed' }],
    ['queue:"two words" name:x', { queue: ['two words'], name: ['x'] }],
  ] as const) {
    it(`reads ${JSON.stringify(text)} as filters`, () => {
      expect(parseSearch(text)).to.deep.equal({
        kind: 'filters',
        filters: { state: null, queue: [], name: [], ...filters },
      });
    });
  }

  for (const text of ['queue:', 'state:lost', 'id:12', 'tag:x', 'args.a.b:1', 'error:"a b"']) {
    it(`says why it does not understand ${text}`, () => {
      expect(parseSearch(text)).to.have.property('kind', 'misunderstood');
    });
  }

  it('reads its own text back', () => {
    const filters = { state: null, queue: ['a', 'b c'], name: ['x:y'] };
    expect(parseSearch(searchText(filters))).to.deep.equal({ kind: 'filters', filters });
  });

  it('leads to the job, to the filtered list, or back with the reason', async () => {
    const site = await openSite();
    try {
      const go = (query: string) => site.http.get(`/job-dashboard/jobs?${query}`);
      expect((await go(`q=${id}`)).headers.location).to.equal(`./jobs/${id}`);
      expect((await go('q=queue%3Amail&state=done')).headers.location).to.equal(
        './jobs?state=done&queue=mail',
      );
      const misunderstood = await go('q=tag%3Ax');
      expect([
        misunderstood.status,
        misunderstood.text.includes('“tag:” cannot be searched for'),
      ]).to.deep.equal([200, true]);
    } finally {
      await site.close();
    }
  });
});
