import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Queues as resources', (api) => {
  const make = async (): Promise<string> => {
    const queue = api.newName();
    await api.enqueue(queue);
    return queue;
  };

  it('GET /queues lists queues by name, or those that are named', async () => {
    const names = [await make(), await make()];
    const listed = await api.get(`/queues?name=${names[0]}&name=${names[1]}`);
    expect(listed.items.map(({ name }) => name)).to.deep.equal(names.toSorted());
  });

  it('POST /queues creates a queue with its limits before its first job', async () => {
    const name = api.newName();
    const rateLimit = { jobs: 5, periodMs: 1_000 };
    const { status, item, headers } = await api.post('/queues', { name, concurrencyLimit: 3, rateLimit });
    expect(status).to.equal(201);
    expect(headers.location).to.match(new RegExp(`/api/v1/queues/${name}$`));
    expect(item).to.deep.include({ name, concurrencyLimit: 3, rateLimit: { ...rateLimit, burst: 5 } });
    expect((await api.get(`/queues/${name}`)).item).to.deep.equal(item);
    const { items } = await api.get(`/audit-entries?target=${name}`);
    expect(items.map(({ action, outcome }) => [action, outcome])).to.deep.equal([['queues/create', 'done']]);
  });

  it('POST /queues of a queue that exists is 409, and changes nothing', async () => {
    const name = await make();
    const { codes, text } = await api.post('/queues', { name, concurrencyLimit: 3 });
    expect(codes).to.deep.equal([40901]);
    expect(text).to.contain('use PATCH /queues/{queue} to change its limits');
    expect((await api.get(`/queues/${name}`)).item).to.include({ concurrencyLimit: null });
  });

  it('POST /queues without a possible name, or with impossible limits, is 422', async () => {
    for (const [body, code] of [
      [{}, 42201],
      [{ name: 'no name' }, 42202],
      [{ name: api.newName(), concurrencyLimit: 0 }, 42202],
      [{ name: api.newName(), pausedAt: null }, 42203],
    ] as const)
      expect((await api.post('/queues', body)).codes).to.deep.equal([code]);
  });

  it('GET /queues/{queue} shows its counts by state and that it has no limits', async () => {
    const queue = await make();
    const { item } = await api.get(`/queues/${queue}`);
    expect(item['counts']).to.include({ enqueued: 1, done: 0 });
    expect(item).to.include({ concurrencyLimit: null, rateLimit: null, pausedAt: null, servers: 0 });
  });

  it('GET /queues/{queue} shows the settings in code, and which an operator has changed', async () => {
    const queue = await make();
    await api.storage.queues.synchronize('shop', { [queue]: { concurrencyLimit: 3, paused: false } });
    const { item } = await api.patch(`/queues/${queue}`, { concurrencyLimit: 1 });
    expect(item['inCode']).to.deep.equal({
      application: 'shop',
      concurrencyLimit: 3,
      paused: false,
      differs: ['concurrencyLimit'],
    });
    await api.storage.queues.synchronize('shop', {});
  });

  it('PATCH /queues/{queue} sets a limit, leaves others and takes one away', async () => {
    const path = `/queues/${await make()}`;
    expect((await api.patch(path, { concurrencyLimit: 3 })).item).to.include({ concurrencyLimit: 3 });
    const rateLimit = { jobs: 5, periodMs: 1_000 };
    const { item } = await api.patch(path, { rateLimit });
    expect(item).to.deep.include({ concurrencyLimit: 3, rateLimit: { ...rateLimit, burst: 5 } });
    const faster = await api.patch(path, { concurrencyLimit: null, rateLimit: { jobs: 9 } });
    expect(faster.item).to.deep.include({
      concurrencyLimit: null,
      rateLimit: { jobs: 9, periodMs: 1_000, burst: 5 },
    });
  });

  it('PUT /queues/{queue} takes away the limits that it does not name', async () => {
    const path = `/queues/${await make()}`;
    await api.patch(path, { concurrencyLimit: 3, rateLimit: { jobs: 5, periodMs: 1_000 } });
    const { item } = await api.put(path, { concurrencyLimit: 4 });
    expect(item).to.include({ concurrencyLimit: 4, rateLimit: null });
  });

  it('PATCH /queues/{queue} with a limit out of bounds is 422', async () => {
    const path = `/queues/${await make()}`;
    expect((await api.patch(path, { concurrencyLimit: 0 })).codes).to.deep.equal([42202]);
    expect((await api.patch(path, { rateLimit: { jobs: 5 } })).codes).to.deep.equal([42201]);
    expect((await api.patch(path, { counts: { enqueued: 0 } })).codes).to.deep.equal([42202]);
  });

  it('PUT /queues/{queue}/pause keeps a reason and an end, and records both operations in the audit', async () => {
    const queue = await make();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const paused = await api.put(`/queues/${queue}/pause`, { reason: 'PSP outage', until });
    expect(paused.item).to.include({ pauseReason: 'PSP outage', pausedUntil: until });
    const resumed = await api.put(`/queues/${queue}/resume`, { reason: 'PSP is back' });
    expect(resumed.item).to.include({ pausedAt: null, pauseReason: null, pausedUntil: null });
    const address = '127.0.0.1';
    const entries = await api.storage.audit.list({ limit: 10, target: queue });
    expect(entries.map(({ action, reason, filter }) => [action, reason, filter])).to.deep.equal([
      ['queues/resume', 'PSP is back', { address, via: 'api' }],
      ['queues/pause', 'PSP outage', { address, values: { until }, via: 'api' }],
    ]);
  });

  it('PUT /queues/{queue}/limit-key sets the limit of blocked jobs, and records it in the audit', async () => {
    const queue = api.newName();
    const concurrency = { key: 'tenant-7', limit: 1 };
    const jobs = [1, 2, 3].map((a) => ({ name: 'add', args: { a, b: 2 }, queue, concurrency }));
    for (const job of jobs) await api.post('/jobs', job);
    let resolved = 1;
    while (resolved > 0) resolved = await api.storage.maintenance.resolveDependencies(100);
    const body = { concurrencyKey: 'tenant-7', limit: 2, reason: 'large order' };
    const { status, item, headers } = await api.put(`/queues/${queue}/limit-key`, body);
    expect([status, item['name'], headers['x-total-count']]).to.deep.equal([200, queue, '2']);
    const { items } = await api.get(`/queues/${queue}/jobs`);
    const limits = items.map((job) => (job['concurrency'] as { limit: number }).limit);
    expect(limits).to.have.members([1, 2, 2]);
    const [entry] = await api.storage.audit.list({ limit: 1, target: queue });
    expect(entry).to.deep.include({ action: 'queues/limit-key', reason: 'large order', count: 2 });
    expect(entry?.filter).to.deep.include({
      values: { concurrencyKey: 'tenant-7', limit: 2 },
      before: { limit: 1 },
    });
  });

  it('PUT /queues/{queue}/limit-key of a key that blocks no jobs is 409, and of a limit out of bounds 422', async () => {
    const path = `/queues/${await make()}/limit-key`;
    const { codes, text } = await api.put(path, { concurrencyKey: 'tenant-7', limit: 2 });
    expect(codes).to.deep.equal([40902]);
    expect(text).to.contain('no job of the queue is blocked by the key “tenant-7”');
    expect((await api.put(path, { concurrencyKey: 'tenant-7', limit: 0 })).codes).to.deep.equal([42202]);
    expect((await api.put(path, { concurrencyKey: 'tenant-7' })).codes).to.deep.equal([42201]);
  });

  it('DELETE /queues/{queue} keeps a reason in the audit', async () => {
    const queue = api.newName();
    await api.storage.queues.limit(queue, { concurrencyLimit: 1 });
    expect((await api.delete(`/queues/${queue}?reason=${'x'.repeat(501)}`)).codes).to.deep.equal([40003]);
    expect((await api.delete(`/queues/${queue}?reason=no%20longer%20used`)).status).to.equal(204);
    const [entry] = await api.storage.audit.list({ limit: 1, target: queue });
    expect(entry).to.include({ action: 'queues/delete', reason: 'no longer used' });
  });

  it('PUT /queues/{queue}/pause with an end in the past or a reason that is too long is 422', async () => {
    const path = `/queues/${await make()}/pause`;
    expect((await api.put(path, { until: '2020-01-01T00:00:00Z' })).codes).to.deep.equal([42202]);
    expect((await api.put(path, { until: '9999-12-31T23:59:59Z' })).codes).to.deep.equal([42202]);
    expect((await api.put(path, { reason: 'x'.repeat(501) })).codes).to.deep.equal([42202]);
  });

  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['PUT', '/pause'],
    ['PUT', '/resume'],
    ['PUT', '/purge'],
    ['PUT', '/limit-key'],
    ['GET', '/jobs'],
    ['POST', '/jobs'],
  ] as const) {
    it(`${method} /queues/{queue}${path} of an unknown queue is 404`, async () => {
      const bodies: Readonly<Record<string, object>> = {
        '/jobs': { name: 'add', args: { a: 1, b: 2 } },
        '/limit-key': { concurrencyKey: 'tenant-7', limit: 2 },
      };
      const body = bodies[path] ?? {};
      const answer = await api.call(method, `/queues/nowhere${path}`, method === 'GET' ? undefined : body);
      expect(answer.codes).to.deep.equal([40402]);
    });
  }

  it('PUT /queues/{queue}/pause and resume, each twice without a second effect', async () => {
    const path = `/queues/${await make()}`;
    const { item } = await api.put(`${path}/pause`);
    expect(item['pausedAt']).to.be.a('string');
    expect((await api.put(`${path}/pause`)).item['pausedAt']).to.equal(item['pausedAt']);
    expect((await api.put(`${path}/resume`)).item['pausedAt']).to.equal(null);
    expect((await api.put(`${path}/resume`)).status).to.equal(200);
  });

  it('PUT /queues/{queue}/purge cancels what has not started, and nothing of other queues', async () => {
    const [queue, other] = [await make(), await make()];
    await api.enqueue(queue, { delayMs: 3_600_000 });
    const { item } = await api.put(`/queues/${queue}/purge`);
    expect(item['counts']).to.include({ enqueued: 0, scheduled: 0, cancelled: 2 });
    expect((await api.put(`/queues/${queue}/purge`)).status).to.equal(200);
    expect((await api.get(`/queues/${other}`)).item['counts']).to.include({ enqueued: 1 });
  });

  it('DELETE /queues/{queue} is 204 once its jobs have finished, and 409 until then', async () => {
    const queue = await make();
    const refused = await api.call('DELETE', `/queues/${queue}`);
    expect([refused.status, ...refused.codes]).to.deep.equal([409, 40902]);
    expect(refused.text).to.contain('has unfinished jobs');
    await api.put(`/queues/${queue}/purge`);
    expect((await api.call('DELETE', `/queues/${queue}`)).status).to.equal(204);
    expect((await api.get(`/queues/${queue}`)).codes).to.deep.equal([40402]);
    expect((await api.call('DELETE', `/queues/${queue}`)).codes).to.deep.equal([40402]);
  });

  it('DELETE /queues/{queue} keeps its finished jobs, and the next job brings it back', async () => {
    const queue = await make();
    await api.put(`/queues/${queue}/purge`);
    await api.call('DELETE', `/queues/${queue}`);
    expect((await api.get(`/jobs?queue=${queue}`)).items.map(({ state }) => state)).to.deep.equal([
      'cancelled',
    ]);
    await api.enqueue(queue);
    expect((await api.get(`/queues/${queue}`)).item['counts']).to.include({ enqueued: 1, cancelled: 1 });
  });

  it('DELETE /queues/{queue} is 409 while a server takes jobs from it', async () => {
    const queue = await make();
    await api.put(`/queues/${queue}/purge`);
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: 3_600_000 };
    const server = await api.storage.servers.register(description);
    const refused = await api.call('DELETE', `/queues/${queue}`);
    await server.unregister();
    expect([refused.status, ...refused.codes]).to.deep.equal([409, 40902]);
    expect(refused.text).to.contain('servers take jobs from it');
  });

  it('POST /queues/{queue}/jobs enqueues there, and refuses another queue', async () => {
    const queue = await make();
    const job = { name: 'add', args: { a: 1, b: 2 } };
    const made = await api.post(`/queues/${queue}/jobs`, job);
    expect([made.status, made.item['queue']]).to.deep.equal([201, queue]);
    expect((await api.post(`/queues/${queue}/jobs`, { ...job, queue: 'other' })).codes).to.deep.equal([
      42202,
    ]);
  });

  it('GET /queues/{queue}/jobs lists only its own jobs', async () => {
    const [one, other] = [await make(), await make()];
    expect((await api.get(`/queues/${one}/jobs`)).items.map(({ queue }) => queue)).to.deep.equal([one]);
    expect((await api.get(`/queues/${one}/jobs?queue=${other}`)).items).to.deep.equal([]);
  });

  it('POST /queues/{queue}/jobs tells where the job is found', async () => {
    const made = await api.post(`/queues/${await make()}/jobs`, { name: 'add', args: { a: 1, b: 2 } });
    expect(made.headers.location).to.equal(`https://jobs.example/api/v1/jobs/${made.item.id}`);
  });

  it('PATCH /queues/{queue} says what is wrong within a limit', async () => {
    const refused = await api.patch(`/queues/${await make()}`, { rateLimit: { jobs: 0 } });
    expect(refused.text)
      .to.contain('rateLimit.jobs must be >= 1')
      .and.contain('rateLimit.periodMs is missing');
  });
});
