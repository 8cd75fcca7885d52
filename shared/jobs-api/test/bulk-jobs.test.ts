import { expect } from 'chai';
import { type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('The jobs of an operation on many jobs', (api) => {
  const cancelled = async (queue: string): Promise<string> => {
    const { id } = await api.enqueue(queue);
    await api.put(`/jobs/${id}/cancel`);
    return id;
  };
  const relation = (link: unknown, name: string): string | undefined =>
    new RegExp(`<https://jobs\\.example/api/v1([^>]*)>; rel="${name}"`).exec(String(link))?.[1];

  it('are those that it has changed, newest first or oldest first, page by page, in the fields that are wanted', async () => {
    const queue = api.newName();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await cancelled(queue));
    const other = await cancelled(queue);
    const { item } = await api.put('/jobs/retry', { ids });
    const path = `/bulk-operations/${item.id}/jobs`;
    const all = await api.get(path);
    expect(all.items.map(({ id }) => id))
      .to.deep.equal(ids.toReversed())
      .and.not.to.include(other);
    expect(all.items[0]).to.deep.equal((await api.get(`/jobs/${ids[4]}`)).item);
    expect(all.headers).to.include({ 'x-total-count': '5' });
    const seen: ItemBody[] = [];
    for (
      let next: string | undefined = `${path}?sort=createdAt&limit=2&fields=id,state`;
      next !== undefined;
    ) {
      const { items, headers } = await api.get(next);
      seen.push(...items);
      next = relation(headers['link'], 'next');
    }
    expect(seen).to.deep.equal(ids.map((id) => ({ id, state: 'enqueued' })));
    const last = await api.get(relation(all.headers['link'], 'last') ?? '');
    expect(last.items).to.deep.equal(all.items);
    expect((await api.get(`${path}?offset=3&limit=9`)).items.map(({ id }) => id)).to.deep.equal([
      ids[1],
      ids[0],
    ]);
  });

  it('can be filtered like any jobs', async () => {
    const [queue, other] = [api.newName(), api.newName()];
    const ids = [await cancelled(queue), await cancelled(other)];
    const { item } = await api.put('/jobs/retry', { ids });
    await api.put(`/jobs/${ids[0]}/cancel`);
    const found = async (query: string): Promise<string[]> =>
      (await api.get(`/bulk-operations/${item.id}/jobs?${query}`)).items.map(({ id }) => id);
    expect(await found(`queue=${other}`)).to.deep.equal([ids[1]]);
    expect(await found('state=cancelled')).to.deep.equal([ids[0]]);
    expect(await found('state=done')).to.deep.equal([]);
  });

  it('are those that still exist, even if most have been deleted', async () => {
    const queue = api.newName();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await cancelled(queue));
    const { item } = await api.put('/jobs/retry', { ids });
    await api.put('/jobs/cancel', { ids });
    for (const id of ids.slice(1)) await api.delete(`/jobs/${id}`);
    const page = await api.get(`/bulk-operations/${item.id}/jobs?limit=1`);
    expect(page.items.map(({ id }) => id)).to.deep.equal([ids[0]]);
    expect(relation(page.headers['link'], 'next')).to.equal(undefined);
  });

  it('grow with its progress', async () => {
    const queue = api.newName();
    const id = await cancelled(queue);
    const { item } = await api.put(`/jobs/retry?queue=${queue}`, { delayMs: 60_000 });
    expect((await api.get(`/bulk-operations/${item.id}/jobs`)).items).to.deep.equal([]);
    expect((await api.get(`/bulk-operations/${item.id}`)).item).to.include({ matched: 1, changed: 0 });
    const now = await api.put(`/jobs/retry?queue=${queue}`);
    expect(now.item).to.include({ changed: 1 });
    expect((await api.get(`/bulk-operations/${now.item.id}/jobs`)).items.map((job) => job.id)).to.deep.equal([
      id,
    ]);
  });

  it('are 404 below an operation that does not exist, and cannot be changed there', async () => {
    const path = '/bulk-operations/01890a5d-ac96-774b-bcce-b302099a8057/jobs';
    expect((await api.get(path)).codes).to.deep.equal([40402]);
    expect((await api.post(path, { name: 'add' })).status).to.equal(405);
  });
});
