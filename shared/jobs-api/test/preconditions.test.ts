import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

const writers = 50;

const later = { runAt: '2100-01-01T00:00:00.000Z' };

onEachStorage('Conditions of changes', (api) => {
  const etagOf = async (path: string): Promise<string> => String((await api.get(path)).headers['etag']);

  /**
   * Sends `writers` changes with the same `If-Match` header at once. Returns the number of responses with each status.
   */
  const race = async (
    method: string,
    path: string,
    body: (writer: number) => unknown,
  ): Promise<Record<number, number>> => {
    const headers = { 'if-match': await etagOf(path.replace(/\/(cancel|run|retry|pause|resume)$/, '')) };
    const answers = await Promise.all(
      Array.from({ length: writers }, (_, writer) => api.call(method, path, body(writer), headers)),
    );
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const nothing = (): undefined => undefined;
  const oneOf = (status: number) => ({ [status]: 1, 412: writers - 1 });

  const recurring = async (): Promise<string> => {
    const id = api.newName();
    const body = { id, name: 'add', cron: '0 0 1 1 *', args: { a: 1, b: 2 } };
    expect((await api.post('/recurring-jobs', body)).status).to.equal(201);
    return id;
  };

  it('of 50 writers that saw the same job only one changes it', async () => {
    const { id } = await api.enqueue(api.newName());
    const changed = await race('PATCH', `/jobs/${id}`, (priority) => ({ priority: priority + 1 }));
    expect(changed).to.deep.equal(oneOf(200));
  });

  for (const [verb, body] of [
    ['cancel', {}],
    ['cancel', later],
    ['run', later],
  ] as const) {
    it(`of 50 that saw the same job (${Object.keys(body).join() || 'ready'}) only one can ${verb} it`, async () => {
      const { id } = await api.enqueue(api.newName(), body);
      expect(await race('PUT', `/jobs/${id}/${verb}`, nothing)).to.deep.equal(oneOf(200));
    });
  }

  it('of 50 that saw the same cancelled job only one sends it back', async () => {
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`);
    expect(await race('PUT', `/jobs/${id}/retry`, nothing)).to.deep.equal(oneOf(200));
  });

  it('a queue that was changed since it was seen is not deleted', async () => {
    const path = `/queues/${api.newName()}`;
    await api.storage.queues.pause(path.slice('/queues/'.length));
    const seen = { 'if-match': await etagOf(path) };
    await api.patch(path, { concurrencyLimit: 3 });
    expect((await api.call('DELETE', path, undefined, seen)).status).to.equal(412);
    const now = { 'if-match': await etagOf(path) };
    expect((await api.call('DELETE', path, undefined, now)).status).to.equal(204);
  });

  it('a job that was sent back since it was seen is not deleted', async () => {
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`);
    const headers = { 'if-match': await etagOf(`/jobs/${id}`) };
    await api.put(`/jobs/${id}/retry`);
    await api.put(`/jobs/${id}/cancel`);
    expect((await api.call('DELETE', `/jobs/${id}`, undefined, headers)).codes).to.deep.equal([41201]);
    const fresh = { 'if-match': await etagOf(`/jobs/${id}`) };
    expect((await api.call('DELETE', `/jobs/${id}`, undefined, fresh)).status).to.equal(204);
  });

  it('a condition is looked at before the state', async () => {
    const { id } = await api.enqueue(api.newName());
    const stale = await api.call('DELETE', `/jobs/${id}`, undefined, { 'if-match': '"stale"' });
    expect(stale.codes).to.deep.equal([41201]);
    const current = { 'if-match': await etagOf(`/jobs/${id}`) };
    expect((await api.call('DELETE', `/jobs/${id}`, undefined, current)).codes).to.deep.equal([40902]);
  });

  it('of 50 that saw the same queue only one changes its limit, or pauses it', async () => {
    const queue = api.newName();
    await api.enqueue(queue);
    await etagOf(`/queues/${queue}`);
    const limited = await race('PATCH', `/queues/${queue}`, (n) => ({ concurrencyLimit: n + 1 }));
    expect(limited).to.deep.equal(oneOf(200));
    expect(await race('PUT', `/queues/${queue}/pause`, nothing)).to.deep.equal(oneOf(200));
    expect(await race('PUT', `/queues/${queue}/resume`, nothing)).to.deep.equal(oneOf(200));
  });

  it('of 50 that saw the same recurring job only one changes, pauses, resumes or deletes it', async () => {
    const path = `/recurring-jobs/${await recurring()}`;
    expect(await race('PATCH', path, (n) => ({ queue: `q${n}` }))).to.deep.equal(oneOf(200));
    expect(await race('PUT', `${path}/pause`, nothing)).to.deep.equal(oneOf(200));
    expect(await race('PUT', `${path}/resume`, nothing)).to.deep.equal(oneOf(200));
    const deleted = await race('DELETE', path, nothing);
    expect(deleted).to.deep.equal({ 204: 1, 404: writers - 1 });
  });

  it('a stale tag keeps a recurring job from being triggered', async () => {
    const path = `/recurring-jobs/${await recurring()}`;
    const stale = await api.call('PUT', `${path}/trigger`, undefined, { 'if-match': '"stale"' });
    expect([stale.codes, (await api.get(`${path}/jobs`)).items]).to.deep.equal([[41201], []]);
  });

  it('a running job’s cancellation goes by what the job is', async () => {
    const queue = api.newName();
    const { id } = await api.enqueue(queue);
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: 3_600_000 };
    const server = await api.storage.servers.register(description);
    const seen = { 'if-match': await etagOf(`/jobs/${id}`) };
    await api.storage.claims.claim({ serverId: server.id, queue, limit: 1, leaseMs: 3_600_000 });
    const cancel = (headers: Readonly<Record<string, string>>) =>
      api.call('PUT', `/jobs/${id}/cancel`, undefined, headers);
    expect((await cancel(seen)).status).to.equal(412);
    expect((await cancel({ 'if-match': await etagOf(`/jobs/${id}`) })).status).to.equal(202);
    const path = `/servers/${server.id}`;
    const asked = (tag: string) => api.call('PUT', `${path}/quiet`, undefined, { 'if-match': tag });
    expect((await asked('"stale"')).status).to.equal(412);
    expect((await asked(await etagOf(path))).status).to.equal(200);
    await server.unregister();
  });

  it('a stale tag keeps a batch from being cancelled', async () => {
    const { item } = await api.post('/batches', {
      jobs: [{ name: 'add', args: { a: 1, b: 2 }, queue: api.newName() }],
    });
    const path = `/batches/${item.id}`;
    const cancel = (tag: string) => api.call('PUT', `${path}/cancel`, undefined, { 'if-match': tag });
    expect((await cancel('"stale"')).status).to.equal(412);
    expect((await cancel(await etagOf(path))).status).to.equal(200);
  });
});
