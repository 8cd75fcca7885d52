import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { add, onEachStorage } from './support/jobs-api-under-test.js';

const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';

onEachStorage('Changing jobs over HTTP', (api) => {
  const cancelled = async (): Promise<string> => {
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`);
    return id;
  };

  it('PATCH /jobs/{id} changes priority, queue and a part of the arguments', async () => {
    const { id, createdAt } = await api.enqueue(api.newName());
    const queue = api.newName();
    const answer = await api.patch(`/jobs/${id}`, { priority: -4, queue, args: { a: 9 } });
    expect(answer.status).to.equal(200);
    expect(answer.item).to.deep.include({ id, createdAt, priority: -4, queue, args: { a: 9, b: 2 } });
    expect((await api.get(`/jobs/${id}`)).item).to.deep.equal(answer.item);
  });

  for (const [what, body] of [
    ['another priority', { priority: 5 }],
    ['another queue', { queue: 'digits' }],
    ['another argument', { args: { b: 7 } }],
    ['the arguments that GET showed', { args: { a: 12345678901234567000, b: 1 } }],
  ] as const) {
    it(`PATCH /jobs/{id} with ${what} keeps the digits of large numbers`, async () => {
      const id = newId();
      const stored = '{"a":12345678901234567890,"b":1}';
      const job = {
        id,
        name: 'add',
        queue: api.newName(),
        priority: 0,
        args: stored,
        maxAttempts: 1,
        due: null,
      };
      await api.storage.enqueuer.enqueue([job]);
      expect((await api.patch(`/jobs/${id}`, body)).status).to.equal(200);
      const documents = await api.storage.jobs.findDocuments(id);
      expect(documents?.args.replaceAll(' ', '')).to.contain('"a":12345678901234567890');
      expect((await api.put('/jobs', [{ id, ...body }])).status).to.equal(200);
      expect((await api.storage.jobs.findDocuments(id))?.args).to.equal(documents?.args);
    });
  }

  it('PATCH /jobs/{id} changes tags and the maximum of attempts, which the audit keeps', async () => {
    const { id } = await api.enqueue(api.newName(), { tags: ['old', 'kept'] });
    const tag = api.newName();
    const { status, item } = await api.patch(`/jobs/${id}`, { tags: [tag, 'kept'], maxAttempts: 77 });
    expect(status).to.equal(200);
    expect(item).to.deep.include({ tags: [tag, 'kept'], maxAttempts: 77 });
    expect((await api.get(`/jobs?tag=${tag}`)).items.map((job) => job.id)).to.deep.equal([id]);
    const { items } = await api.get(`/audit-entries?target=${id}`);
    expect(items).to.have.lengthOf(1);
    expect(items[0]).to.deep.include({
      action: 'jobs/edit',
      outcome: 'done',
      values: { tags: [tag, 'kept'], maxAttempts: 77 },
      before: { tags: ['old', 'kept'], maxAttempts: add.maxAttempts },
    });
  });

  it('PATCH /jobs/{id} keeps no arguments in the audit', async () => {
    const { id } = await api.enqueue(api.newName());
    await api.patch(`/jobs/${id}`, { args: { a: 98765 } });
    const { text, items } = await api.get(`/audit-entries?target=${id}`);
    expect(items).to.have.lengthOf(1);
    expect(text).not.to.contain('98765');
  });

  it('PATCH /jobs/{id} of a job that has ended is 409, and recorded as refused', async () => {
    const id = await cancelled();
    const { codes, text } = await api.patch(`/jobs/${id}`, { tags: ['late'] });
    expect(codes).to.deep.equal([40902]);
    expect(text).to.contain('cannot be edited: it is cancelled; in this state, it can be retried or deleted');
    const { items } = await api.get(`/audit-entries?target=${id}&action=jobs%2Fedit`);
    expect(items.map(({ outcome }) => outcome)).to.deep.equal(['refused']);
  });

  it('PATCH /jobs/{id} with a maximum of attempts beyond the limit is 422', async () => {
    const { id } = await api.enqueue(api.newName());
    expect((await api.patch(`/jobs/${id}`, { maxAttempts: 1_001 })).codes).to.deep.equal([42202]);
  });

  it('PUT /jobs changes the tags of many jobs, with one entry in the audit', async () => {
    const [one, two] = [await api.enqueue(api.newName()), await api.enqueue(api.newName())];
    const answer = await api.put('/jobs', [
      { id: one.id, tags: ['a'] },
      { id: two.id, tags: ['b'], maxAttempts: 3 },
    ]);
    expect(answer.items.map(({ tags }) => tags)).to.deep.equal([['a'], ['b']]);
    const [entry] = (await api.get('/audit-entries?action=jobs%2Fedit&limit=1')).items;
    expect(entry).to.deep.include({
      count: 2,
      values: { [one.id]: { tags: ['a'] }, [two.id]: { tags: ['b'], maxAttempts: 3 } },
    });
  });

  it('PATCH /jobs/{id} gives a time', async () => {
    const { id } = await api.enqueue(api.newName());
    const runAt = '2100-01-01T00:00:00.000Z';
    expect((await api.patch(`/jobs/${id}`, { runAt })).item).to.include({ runAt, state: 'scheduled' });
  });

  it('PATCH /jobs/{id} with arguments that do not fit is 422', async () => {
    const { id } = await api.enqueue(api.newName());
    expect((await api.patch(`/jobs/${id}`, { args: { a: 'one' } })).codes).to.deep.equal([42202]);
  });

  it('PATCH /jobs/{id} of what only the server writes is 422', async () => {
    const { id } = await api.enqueue(api.newName());
    expect((await api.patch(`/jobs/${id}`, { state: 'done' })).codes).to.deep.equal([42202]);
  });

  it('PATCH /jobs/{id} with a stale If-Match is 412', async () => {
    const { id } = await api.enqueue(api.newName());
    const answer = await api.call('PATCH', `/jobs/${id}`, { priority: 1 }, { 'if-match': '"stale"' });
    expect(answer.codes).to.deep.equal([41201]);
  });

  it('PATCH /jobs/{id} takes the ETag that the POST gave', async () => {
    const made = await api.post('/jobs', { name: 'add', args: { b: 2, a: 1 }, queue: api.newName() });
    const headers = { 'if-match': String(made.headers.etag) };
    expect((await api.call('PATCH', `/jobs/${made.item.id}`, { priority: 1 }, headers)).status).to.equal(200);
  });

  it('PATCH /jobs/{id} of a finished job is 409, of an unknown one 404', async () => {
    expect((await api.patch(`/jobs/${await cancelled()}`, { priority: 1 })).codes).to.deep.equal([40902]);
    expect((await api.patch(`/jobs/${unknown}`, { priority: 1 })).codes).to.deep.equal([40402]);
  });

  it('PUT /jobs changes several, and answers in their order', async () => {
    const [first, second] = [await api.enqueue(api.newName()), await api.enqueue(api.newName())];
    const queue = api.newName();
    const changes = [
      { id: second.id, priority: 2 },
      { id: first.id, queue, args: { a: 5, b: 5 } },
    ];
    const answer = await api.put('/jobs', changes);
    expect(answer.status).to.equal(200);
    expect(answer.items.map(({ id, priority, queue: of }) => [id, priority, of])).to.deep.equal([
      [second.id, 2, second['queue']],
      [first.id, 0, queue],
    ]);
  });

  it('PUT /jobs changes none if one of them is unknown or has finished', async () => {
    const { id } = await api.enqueue(api.newName());
    const change = { id, priority: 3 };
    expect((await api.put('/jobs', [change, { id: unknown, priority: 3 }])).codes).to.deep.equal([40402]);
    expect((await api.put('/jobs', [change, { id: await cancelled(), priority: 3 }])).codes).to.deep.equal([
      40902,
    ]);
    expect((await api.get(`/jobs/${id}`)).item['priority']).to.equal(0);
  });

  it('PUT /jobs with an id twice, or another field, is 422', async () => {
    const { id } = await api.enqueue(api.newName());
    expect(
      (
        await api.put('/jobs', [
          { id, priority: 1 },
          { id, priority: 2 },
        ])
      ).codes,
    ).to.deep.equal([42202]);
    expect((await api.put('/jobs', [{ id, runAt: '2100-01-01T00:00:00Z' }])).codes).to.deep.equal([42203]);
  });

  for (const verb of ['cancel', 'retry', 'run']) {
    it(`PUT /jobs/{id}/${verb} of an unknown job is 404, and GET on it is 405`, async () => {
      expect((await api.put(`/jobs/${unknown}/${verb}`)).codes).to.deep.equal([40402]);
      expect((await api.get(`/jobs/${unknown}/${verb}`)).codes).to.deep.equal([40501]);
    });
  }

  it('PUT /jobs/{id}/retry restores skipped dependents and disregards dependencies if it is asked to', async () => {
    const resolved = async (): Promise<void> => {
      while ((await api.storage.maintenance.resolveDependencies(100)) > 0);
    };
    const stateOf = async (id: string): Promise<unknown> => (await api.get(`/jobs/${id}`)).item['state'];
    const queue = api.newName();
    const parent = await api.enqueue(queue, { delayMs: 3_600_000 });
    const child = await api.enqueue(queue, { after: { parents: [parent.id] } });
    await api.put(`/jobs/${parent.id}/cancel`);
    await resolved();
    expect(await stateOf(child.id)).to.equal('cancelled');

    await api.put(`/jobs/${parent.id}/retry`);
    expect(await stateOf(child.id)).to.equal('cancelled');
    await api.put(`/jobs/${parent.id}/cancel`);
    const both = await api.put(`/jobs/${parent.id}/retry`, { dependents: true });
    expect(both.headers['x-total-count']).to.equal('2');
    expect(await stateOf(child.id)).to.equal('awaiting');

    await api.put(`/jobs/${parent.id}/cancel`);
    await resolved();
    const { item } = await api.put(`/jobs/${child.id}/retry`, { ignoreDependencies: true });
    expect(item['state']).to.equal('enqueued');
    expect((await api.put(`/jobs/${child.id}/retry`, { anyway: true })).codes).to.deep.equal([42203]);
  });

  it('PUT /jobs/{id}/retry changes the queue, the priority and the arguments first, and checks them', async () => {
    const [from, queue] = [api.newName(), api.newName()];
    const { item: job } = await api.post('/jobs', { name: 'add', args: { a: 1, b: 2 }, queue: from });
    await api.put(`/jobs/${job.id}/cancel`);
    const refused = await api.put(`/jobs/${job.id}/retry`, { args: { a: 'x' } });
    expect(refused.status).to.equal(422);
    const content = { priority: 3, args: { a: 5, b: 2 } };
    const body = { toQueue: queue, ...content, reason: 'a was wrong' };
    const { item } = await api.put(`/jobs/${job.id}/retry`, body);
    expect(item).to.deep.include({ state: 'enqueued', queue, ...content });
    const [entry] = await api.storage.audit.list({ target: job.id, limit: 1 });
    expect(entry?.filter).to.deep.include({
      values: { toQueue: queue, priority: 3, args: '…' },
      before: { queue: from, priority: 0 },
    });
  });

  it('PUT /jobs/{id}/cancel, retry and run lead where they should', async () => {
    const { id } = await api.enqueue(api.newName(), { delayMs: 3_600_000 });
    const states = [];
    for (const verb of ['run', 'run', 'cancel', 'cancel', 'retry', 'retry'])
      states.push((await api.put(`/jobs/${id}/${verb}`)).item['state']);
    expect(states).to.deep.equal(['enqueued', 'enqueued', 'cancelled', 'cancelled', 'enqueued', 'enqueued']);
  });
});
