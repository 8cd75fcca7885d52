import { expect } from 'chai';
import { type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Lists of jobs sorted by other fields', (api) => {
  let queue: string;
  let all: ItemBody[];

  before(async () => {
    queue = api.newName();
    const at = (day: number): string => `2100-01-${String(day).padStart(2, '0')}T00:00:00.000Z`;
    for (const [index, day] of [3, 1, 5, 2, 4].entries()) {
      const concurrency = { key: ['b', '10', '9', 'a', 'B'][index], limit: 2 };
      await api.enqueue(queue, {
        runAt: at(day),
        priority: (index * 3) % 5,
        concurrency,
        tags: [`day ${day}`],
      });
    }
    const ended = [await api.enqueue(queue), await api.enqueue(queue)];
    for (const { id } of ended) await api.put(`/jobs/${id}/cancel`);
    await api.enqueue(queue);
    all = (await api.get(`/jobs?queue=${queue}`)).items;
    expect(all).to.have.length(8);
  });

  const relation = (link: unknown, name: string): string | undefined =>
    new RegExp(`<https://jobs\\.example/api/v1([^>]*)>; rel="${name}"`).exec(String(link))?.[1];

  const walk = async (path: string, towards: 'next' | 'prev'): Promise<ItemBody[]> => {
    const seen: ItemBody[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { items, headers } = await api.get(next);
      if (towards === 'next') seen.push(...items);
      else seen.unshift(...items);
      next = relation(headers['link'], towards);
    }
    return seen;
  };

  const valueOf = (item: ItemBody, field: string): string | number =>
    ((field === 'concurrency.key' ? (item['concurrency'] as { key: string } | null)?.key : item[field]) as
      string | number | null) ?? '-';

  for (const [field, values] of [
    ['runAt', ['2100-01-01', '2100-01-02', '2100-01-03', '2100-01-04', '2100-01-05', '-', '-', '-']],
    ['priority', [0, 0, 0, 0, 1, 2, 3, 4]],
    ['concurrency.key', ['10', '9', 'a', 'b', 'B', '-', '-', '-']],
    ['startedAt', ['-', '-', '-', '-', '-', '-', '-', '-']],
  ] as const) {
    const isNull = (value: unknown): boolean => value === '-';
    const descending = [...values.filter((value) => !isNull(value)).toReversed(), ...values.filter(isNull)];
    for (const [sign, expected] of [
      ['', values],
      ['-', descending],
    ] as const)
      it(`sort=${sign}${field} walks through all of them by the links, forwards and backwards`, async () => {
        const path = `/jobs?queue=${queue}&limit=3&sort=${sign}${field}`;
        const forwards = await walk(path, 'next');
        const shown = forwards.map((item) => String(valueOf(item, field)).slice(0, 10));
        expect(shown).to.deep.equal(expected.map(String));
        expect(forwards.map(({ id }) => id)).to.have.members(all.map(({ id }) => id));
        const first = await api.get(path);
        const backwards = await walk(relation(first.headers['link'], 'last') ?? '', 'prev');
        expect(backwards).to.deep.equal(forwards);
        expect(first.headers).to.include({ 'x-total-count': '8' });
        expect(first.headers['preference-applied']).to.equal(undefined);
      });
  }

  it('sort=-finishedAt has what finished last first, and what is unfinished last', async () => {
    const { items } = await api.get(`/jobs?queue=${queue}&sort=-finishedAt&fields=id,finishedAt`);
    const times = items.map((item) => item['finishedAt'] as string | null);
    expect(String(times[0]) >= String(times[1])).to.equal(true);
    expect(times.slice(0, 2)).not.to.include(null);
    expect(new Set(times.slice(2))).to.deep.equal(new Set([null]));
  });

  it('a search with sort is as tolerant of typos as without', async () => {
    const path = `/jobs?queue=${queue}&q=day&sort=-runAt`;
    const days = (await walk(`${path}&limit=2`, 'next')).map((item) => item['tags']);
    expect(days).to.deep.equal([5, 4, 3, 2, 1].map((day) => [`day ${day}`]));
    const [item] = (await api.get(`${path}&fields=args&limit=1`)).items;
    expect(item).to.deep.equal({ args: { a: 1, b: 2 } });
  });

  it('a field that lists cannot be sorted by is 400, and the error names those that they can', async () => {
    const refused = await api.get('/jobs?sort=attempt');
    expect(refused.codes).to.deep.equal([40003]);
    expect(refused.text).to.contain('createdAt, finishedAt, startedAt, runAt, priority, concurrency.key, id');
  });

  it('times, priorities and concurrency keys select those that an operation on many jobs changes', async () => {
    const own = api.newName();
    const due = await api.enqueue(own, { runAt: '2100-01-03T00:00:00Z', priority: 7 });
    const keyed = await api.enqueue(own, { concurrency: { key: 'z', limit: 1 }, priority: -7 });
    const other = await api.enqueue(own);
    const cancel = (query: string): ReturnType<typeof api.put> =>
      api.put(`/jobs/cancel?queue=${own}&${query}`);
    const changed = async (query: string): Promise<string[]> => {
      const { item } = await cancel(query);
      return (await api.get(`/bulk-operations/${item.id}/jobs`)).items.map(({ id }) => id);
    };
    for (const query of ['startedAfter=2000-01-01', 'dueBefore=2099-01-01', 'priority=9', 'concurrencyKey=y'])
      expect((await cancel(query)).codes, query).to.deep.equal([40902]);
    expect(await changed('dueAfter=2100-01-02')).to.deep.equal([due.id]);
    expect(await changed('concurrencyKey=z&priority=-7')).to.deep.equal([keyed.id]);
    expect(await changed('priority=0')).to.deep.equal([other.id]);
  });

  it('times, priorities and concurrency keys filter them', async () => {
    const found = async (query: string): Promise<number> =>
      (await api.get(`/jobs?queue=${queue}&${query}`)).items.length;
    const [first = ''] = all.flatMap((item) => (item['finishedAt'] as string | null) ?? []).toSorted();
    expect(await found('dueAfter=2100-01-02&dueBefore=2100-01-04')).to.equal(3);
    expect(await found('startedAfter=2000-01-01')).to.equal(0);
    expect(await found(`finishedBefore=${first}`)).to.be.within(1, 2);
    expect(await found('priority=3&priority=4')).to.equal(2);
    expect(await found('concurrencyKey=b&concurrencyKey=9')).to.equal(2);
    expect((await api.get('/jobs?priority=101')).codes).to.deep.equal([40003]);
  });
});
