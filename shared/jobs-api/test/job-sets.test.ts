import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Operations on many jobs', (api) => {
  const cancelled = async (queue: string): Promise<string> => {
    const { id } = await api.enqueue(queue);
    await api.put(`/jobs/${id}/cancel`);
    return id;
  };
  const stateOf = async (id: string): Promise<unknown> => (await api.get(`/jobs/${id}`)).item['state'];

  it('change the jobs with these ids, and are answered at their end', async () => {
    const queue = api.newName();
    const [first, second, third] = [await cancelled(queue), await cancelled(queue), await cancelled(queue)];
    const answer = await api.put('/jobs/retry', { ids: [first, second] });
    expect([answer.status, answer.item['state'], answer.item['changed']]).to.deep.equal([200, 'done', 2]);
    expect([await stateOf(first), await stateOf(second), await stateOf(third)]).to.deep.equal([
      'enqueued',
      'enqueued',
      'cancelled',
    ]);
  });

  it('change the jobs that the filters of the list select', async () => {
    const [queue, other] = [api.newName(), api.newName()];
    const [inside, outside] = [await cancelled(queue), await cancelled(other)];
    expect((await api.put(`/jobs/retry?queue=${queue}`)).status).to.equal(200);
    expect([await stateOf(inside), await stateOf(outside)]).to.deep.equal(['enqueued', 'cancelled']);
  });

  it('are answered at once if the client prefers that, with a place that shows their progress', async () => {
    const queue = api.newName();
    await cancelled(queue);
    const answer = await api.call('PUT', `/jobs/retry?queue=${queue}`, {}, { prefer: 'respond-async' });
    expect([answer.status, answer.headers['preference-applied']]).to.deep.equal([202, 'respond-async']);
    const { id } = answer.item;
    expect(answer.headers.location).to.match(new RegExp(`/api/v1/bulk-operations/${id}$`));
    expect((await api.get(`/bulk-operations/${id}`)).item).to.include({ id, action: 'retry', matched: 1 });
  });

  it('reschedule the scheduled jobs among them, and say to when', async () => {
    const queue = api.newName();
    const [one, two] = [
      await api.enqueue(queue, { queue, runAt: '2100-01-01T00:00:00Z' }),
      await api.enqueue(queue, { queue }),
    ];
    const runAt = '2100-01-02T00:00:00.000Z';
    const { status, item } = await api.put(`/jobs/reschedule?queue=${queue}`, { runAt });
    expect([status, item['action'], item['changed'], item['runAt']]).to.deep.equal([
      200,
      'reschedule',
      1,
      runAt,
    ]);
    expect((await api.get(`/jobs/${one.id}`)).item['runAt']).to.equal(runAt);
    expect((await api.get(`/jobs/${two.id}`)).item['runAt']).to.equal(null);
    expect((await api.put(`/jobs/reschedule?queue=${queue}`, {})).codes, 'without a time').to.deep.equal([
      42201,
    ]);
  });

  it('take no fields that mean nothing to them', async () => {
    const { id } = await api.enqueue(api.newName());
    for (const [verb, field] of [
      ['cancel', { dependents: true }],
      ['retry', { runAt: '2100-01-02T00:00:00Z' }],
    ] as const)
      expect((await api.put(`/jobs/${verb}`, { ids: [id], ...field })).codes, verb).to.deep.equal([42203]);
  });

  it('can be undone until they start', async () => {
    const queue = api.newName();
    const job = await cancelled(queue);
    const { status, item } = await api.put(`/jobs/delete?queue=${queue}`, { delayMs: 3_600_000 });
    expect([status, item['state']]).to.deep.equal([202, 'pending']);
    const stopped = await api.put(`/bulk-operations/${item.id}/stop`);
    expect([stopped.status, stopped.item['state']]).to.deep.equal([200, 'cancelled']);
    expect(await stateOf(job)).to.equal('cancelled');
  });

  it('without a selection are 400, and change nothing', async () => {
    const job = await cancelled(api.newName());
    expect((await api.put('/jobs/retry')).codes).to.deep.equal([40003]);
    expect((await api.put('/jobs/retry', { ids: [] })).codes).to.deep.equal([42202]);
    expect(await stateOf(job)).to.equal('cancelled');
  });

  it('that no job allows are 409', async () => {
    const { id } = await api.enqueue(api.newName());
    const answer = await api.put('/jobs/retry', { ids: [id] });
    expect([answer.status, ...answer.codes]).to.deep.equal([409, 40902]);
  });

  it('are recorded in the audit, with their selection and reason', async () => {
    const job = await cancelled(api.newName());
    const { item } = await api.put('/jobs/retry', { ids: [job], reason: 'the provider is back' });
    const { items } = await api.get(`/audit-entries?target=${item.id}`);
    expect(items).to.have.lengthOf(1);
    expect(items[0]).to.include({
      action: 'bulk/retry',
      reason: 'the provider is back',
      outcome: 'done',
      count: 1,
    });
  });

  it('are listed, newest first', async () => {
    const [one, two] = [await cancelled(api.newName()), await cancelled(api.newName())];
    const [{ item: first }, { item: second }] = [
      await api.put('/jobs/retry', { ids: [one] }),
      await api.put('/jobs/retry', { ids: [two] }),
    ];
    const { items } = await api.get('/bulk-operations?limit=2');
    expect(items.map(({ id }) => id)).to.deep.equal([second.id, first.id]);
  });
});
