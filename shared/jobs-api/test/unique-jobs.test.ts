import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

const args = { a: 1, b: 2 };

onEachStorage('Keys of jobs as fields', (api) => {
  it('POST /jobs with a unique key that another job holds answers 200 with that job and its location', async () => {
    const job = { name: 'add', args, queue: api.newName(), unique: { key: 'sum' } };
    const [first, second] = [await api.post('/jobs', job), await api.post('/jobs', job)];
    expect([first.status, second.status]).to.deep.equal([201, 200]);
    expect(second.item).to.deep.equal(first.item);
    expect(second.headers).to.include({ location: first.headers.location, etag: first.headers.etag });
  });

  it('POST /jobs with a key that it insists on is 409 and names the holder', async () => {
    const job = { name: 'add', args, queue: api.newName(), unique: { key: 'sum', onConflict: 'reject' } };
    const { item } = await api.post('/jobs', job);
    const refused = await api.post('/jobs', job);
    expect([refused.status, refused.codes]).to.deep.equal([409, [40901]]);
    expect(refused.text).to.contain(item.id);
  });

  it('POST /jobs with an idempotency key answers with the same job, and 409 for other arguments', async () => {
    const job = { name: 'add', args, queue: api.newName(), idempotencyKey: 'request 7' };
    const [first, second] = [await api.post('/jobs', job), await api.post('/jobs', job)];
    expect(first.item).to.include({ idempotencyKey: 'request 7' });
    expect([first.status, second.status, second.item.id]).to.deep.equal([201, 200, first.item.id]);
    expect((await api.post('/jobs', { ...job, args: { a: 2, b: 2 } })).codes).to.deep.equal([40901]);
  });

  it('POST /jobs with a key in finished states and no period is 422', async () => {
    const job = { name: 'add', args, queue: api.newName(), unique: { key: 'sum', states: ['done'] } };
    expect((await api.post('/jobs', job)).codes).to.deep.equal([42202]);
  });

  it('a request repeated with Idempotency-Key is 201 as the first, whatever has become of the job', async () => {
    const headers = { 'idempotency-key': api.newName() };
    const job = { name: 'add', args, queue: api.newName() };
    const first = await api.call('POST', '/jobs', job, headers);
    await api.put(`/jobs/${first.item.id}/cancel`);
    await api.delete(`/jobs/${first.item.id}`);
    const again = await api.call('POST', '/jobs', job, headers);
    expect([again.status, again.item]).to.deep.equal([201, first.item]);
  });

  it('POST /jobs with the idempotency key of a job that was deleted is 409 and says so', async () => {
    const job = { name: 'add', args, queue: api.newName(), idempotencyKey: 'once' };
    const { item } = await api.post('/jobs', job);
    await api.put(`/jobs/${item.id}/cancel`);
    await api.delete(`/jobs/${item.id}`);
    const refused = await api.post('/jobs', job);
    expect(refused.codes).to.deep.equal([40901]);
    expect(refused.text).to.contain(item.id).and.to.contain('deleted');
    expect((await api.post('/jobs', [job])).text)
      .to.contain(item.id)
      .and.to.contain('once');
  });
});
