import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('The audit over HTTP', (api) => {
  const record = (target: string, action = 'queues/pause'): Promise<void> =>
    api.storage.audit.record({ who: 'ada', action, target, filter: null, count: 1, reason: 'outage' });

  it('lists entries, newest first, with what is known about them', async () => {
    const target = api.newName();
    await record(target);
    await record(target, 'queues/resume');
    const { items } = await api.get(`/audit-entries?target=${target}`);
    expect(items.map(({ action }) => action)).to.deep.equal(['queues/resume', 'queues/pause']);
    expect(items[0]).to.include({ who: 'ada', target, reason: 'outage', outcome: 'done', why: null });
  });

  it('has the address of the client for what was done over HTTP', async () => {
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`, { reason: 'wrong address' });
    const { items } = await api.get(`/audit-entries?target=${id}`);
    expect(items.map(({ address }) => address)).to.deep.equal(['127.0.0.1']);
  });

  it('filters by action and by time', async () => {
    const target = api.newName();
    await record(target);
    await record(target, 'queues/resume');
    const { items } = await api.get(`/audit-entries?target=${target}`);
    const at = items[1]?.['at'];
    const listed = async (query: string): Promise<unknown[]> =>
      (await api.get(`/audit-entries?target=${target}&${query}`)).items.map(({ action }) => action);
    expect(await listed('action=queues/pause')).to.deep.equal(['queues/pause']);
    expect(await listed(`until=${String(at)}`)).to.include('queues/pause');
    expect(await listed('until=2000-01-01T00:00:00Z')).to.deep.equal([]);
    expect(await listed('from=2100-01-01T00:00:00Z')).to.deep.equal([]);
  });

  it('goes on after a page in either direction', async () => {
    const target = api.newName();
    for (let entry = 0; entry < 5; entry++) await record(target);
    const all = (await api.get(`/audit-entries?target=${target}&sort=at`)).items.map(({ id }) => id);
    const first = await api.get(`/audit-entries?target=${target}&sort=at&limit=3`);
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
    const rest = await api.get(next.slice(next.indexOf('/audit-entries')));
    expect([...first.items, ...rest.items].map(({ id }) => id)).to.deep.equal(all);
  });

  it('cannot be changed', async () => {
    expect((await api.delete('/audit-entries')).status).to.equal(405);
  });
});
