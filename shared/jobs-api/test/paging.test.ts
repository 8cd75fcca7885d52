import { expect } from 'chai';
import { type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Paging through jobs', (api) => {
  const relation = (link: unknown, name: string): string | undefined =>
    new RegExp(`<https://jobs\\.example/api/v1([^>]*)>; rel="${name}"`).exec(String(link))?.[1];

  /** Yields the items of each page, following the `next` links from a path to the end. */
  async function* pagesFrom(path: string): AsyncGenerator<ItemBody[]> {
    for (let next: string | undefined = path; next !== undefined;) {
      const { items, headers } = await api.get(next);
      yield items;
      next = relation(headers['link'], 'next');
    }
  }

  for (const sort of ['', '&sort=createdAt', '&sort=id,createdAt'] as const) {
    it(`walking by next sees each earlier job once while others are enqueued${sort && `, with ${sort.slice(1)}`}`, async () => {
      const queue = api.newName();
      const bodies = Array.from({ length: 50 }, () => ({ name: 'add', args: { a: 1, b: 2 }, queue }));
      const { items } = await api.post('/jobs', bodies);
      const seen: string[] = [];
      let pages = 0;
      for await (const page of pagesFrom(`/jobs?queue=${queue}&limit=7${sort}`)) {
        seen.push(...page.map(({ id }) => id));
        if (++pages < 10) for (let n = 0; n < 3; n++) await api.enqueue(queue);
      }
      const earlier = new Set(items.map(({ id }) => id));
      const found = seen.filter((id) => earlier.has(id));
      expect(found, 'each once').to.have.length(earlier.size);
      expect(new Set(seen).size, 'no job twice').to.equal(seen.length);
    });
  }

  it('prev leads back over the same jobs', async () => {
    const queue = api.newName();
    for (let n = 0; n < 5; n++) await api.enqueue(queue);
    const first = await api.get(`/jobs?queue=${queue}&limit=2`);
    const second = await api.get(relation(first.headers['link'], 'next') ?? '');
    const back = await api.get(relation(second.headers['link'], 'prev') ?? '');
    expect(back.items).to.deep.equal(first.items);
  });

  it('offset remains for those who ask for it', async () => {
    const queue = api.newName();
    for (let n = 0; n < 5; n++) await api.enqueue(queue);
    const { items, headers } = await api.get(`/jobs?queue=${queue}&limit=2&offset=2`);
    expect(items).to.have.length(2);
    expect(relation(headers['link'], 'next')).to.contain('offset=4');
  });

  it('sort=createdAt is the order of the createdAt shown, and that of the filters', async () => {
    const queue = api.newName();
    const bodies = Array.from({ length: 20 }, () => ({ name: 'add', args: { a: 1, b: 2 }, queue }));
    await Promise.all([api.post('/jobs', bodies), api.enqueue(queue), api.enqueue(queue)]);
    const { items } = await api.get(`/jobs?queue=${queue}&sort=createdAt&limit=100`);
    const times = items.map((item) => String(item['createdAt']));
    expect(times).to.have.length(22);
    expect(times).to.deep.equal(times.toSorted());
    const middle = times[11] ?? '';
    const until = await api.get(`/jobs?queue=${queue}&createdBefore=${middle}&limit=100`);
    expect(until.items).to.have.length(times.filter((time) => time <= middle).length);
  });
});
