import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

const job = { name: 'add', args: { a: 1, b: 2 } };

onEachStorage('Batches as resources', (api) => {
  const make = async (jobs: object[] = [job, job], more: object = {}): Promise<string> =>
    (await api.post('/batches', { jobs, ...more })).item.id;

  it('POST /batches answers 201 with the batch and its callback', async () => {
    const made = await api.post('/batches', { name: 'sums', jobs: [job, job], callback: job });
    expect(made.status).to.equal(201);
    expect(made.headers.location).to.equal(`https://jobs.example/api/v1/batches/${made.item.id}`);
    expect(made.item).to.deep.include({ name: 'sums', total: 2, done: 0, percent: 0, finishedAt: null });
    const callback = await api.get(`/jobs/${String(made.item['callbackId'])}`);
    expect(callback.item).to.deep.include({
      state: 'awaiting',
      after: { parents: [made.item.id], when: 'onDone' },
    });
  });

  it('POST /batches with bad jobs names each of them and makes none', async () => {
    const queue = api.newName();
    const jobs = [{ ...job, queue }, { name: 'subtract' }, { ...job, args: { a: 1 }, queue }];
    const refused = await api.post('/batches', { jobs });
    expect(refused.codes).to.deep.equal([42202, 42201]);
    expect(refused.text).to.contain('jobs[1].name').and.to.contain('jobs[2].args.b');
    const bad = await api.post('/batches', { jobs: [jobs[0], jobs[2], jobs[2]] });
    expect(bad.text).to.contain('jobs[1].args').and.to.contain('jobs[2].args');
    expect((await api.get(`/jobs?queue=${queue}`)).items).to.deep.equal([]);
  });

  it('POST /batches names what is wrong with its jobs and its callback at once', async () => {
    const refused = await api.post('/batches', {
      jobs: [job, { name: 'add' }],
      callback: { name: 'add', args: { a: 1 } },
    });
    expect(refused.codes).to.deep.equal([42201, 42201, 42201]);
    expect(refused.text).to.contain('jobs[1].args.a is missing').and.to.contain('callback.args.b is missing');
  });

  it('GET /batches lists the newest first, by links too', async () => {
    const made = [await make([]), await make([]), await make([])].toSorted().toReversed();
    const listed = await api.get('/batches?limit=3');
    expect(listed.items.map(({ id }) => id)).to.deep.equal(made);
    expect((await api.get('/batches?limit=1&offset=2')).items[0]?.id).to.equal(made[2]);
    const oldest = await api.get('/batches?sort=createdAt&limit=1');
    expect(oldest.items[0]?.id).not.to.be.oneOf(made.slice(0, 2));
  });

  it('GET /batches/{id} of an unknown one is 404', async () => {
    expect((await api.get('/batches/01890a5d-ac96-774b-bcce-b302099a8057')).codes).to.deep.equal([40402]);
  });

  it('GET /batches/{id}/jobs lists its jobs, and filters among them', async () => {
    const queue = api.newName();
    const id = await make([job, { ...job, queue }]);
    expect((await api.get(`/batches/${id}/jobs`)).items).to.have.length(2);
    const filtered = await api.get(`/batches/${id}/jobs?queue=${queue}`);
    expect(filtered.items.map((item) => [item['queue'], item['batchId']])).to.deep.equal([[queue, id]]);
  });

  it('PUT /batches/{id}/cancel cancels what is left, a second time without effect', async () => {
    const id = await make([{ ...job, queue: api.newName() }]);
    expect((await api.put(`/batches/${id}/cancel`)).status).to.equal(200);
    const cancelled = async (): Promise<unknown> => {
      await api.storage.maintenance.resolveDependencies(100);
      return (await api.get(`/batches/${id}`)).item['cancelled'];
    };
    await eventually(cancelled, (count) => count === 1);
    expect((await api.put(`/batches/${id}/cancel`)).item).to.include({ cancelled: 1, percent: 100 });
  });

  it('PUT /batches/{id}/cancel of one that is done is 409', async () => {
    expect((await api.put(`/batches/${await make([])}/cancel`)).codes).to.deep.equal([40902]);
  });

  it('GET /batches filters by state, name and times, and sorts by any field', async () => {
    const name = api.newName();
    const [open, ended] = [await make([{ ...job, delayMs: 3_600_000 }], { name }), await make([], { name })];
    const found = async (query: string): Promise<string[]> =>
      (await api.get(`/batches?name=${name}&${query}`)).items.map(({ id }) => id);
    expect(await found('state=processing')).to.deep.equal([open]);
    expect(await found('state=done&state=failed')).to.deep.equal([ended]);
    expect(await found('finishedAfter=2000-01-01')).to.deep.equal([ended]);
    expect(await found('createdBefore=2000-01-01')).to.deep.equal([]);
    expect(await found('sort=finishedAt')).to.deep.equal([ended, open]);
    expect(await found('sort=-total')).to.deep.equal([open, ended]);
    expect(await found('sort=total&limit=1')).to.deep.equal([ended]);
    expect((await api.get(`/batches?name=${name}&state=done`)).headers).to.include({ 'x-total-count': '1' });
    expect((await api.get(`/batches/${ended}`)).item).to.include({ state: 'done', name });
    expect((await api.get('/batches?state=open')).codes).to.deep.equal([40003]);
  });

  it('PUT /batches/{id}/cancel of an unknown one is 404', async () => {
    expect((await api.put('/batches/01890a5d-ac96-774b-bcce-b302099a8057/cancel')).codes).to.deep.equal([
      40402,
    ]);
  });
});
