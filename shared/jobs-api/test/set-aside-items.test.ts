import { MemoryStorage } from '@longshore/jobs';
import type { SetAsideRole } from '@longshore/jobs/storage';
import { during } from '@longshore/test-support';
import { expect } from 'chai';
import { JobsApiUnderTest } from './support/jobs-api-under-test.js';

describe('What background work set aside, over HTTP', () => {
  const storage = new MemoryStorage();
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  before(() => api.start());
  after(() => api.stop());

  const put = async (role: SetAsideRole, key: string, jobId?: string): Promise<string> => {
    storage.setAside.add(
      { role, key, queue: 'mail', ...(jobId !== undefined && { jobId }) },
      new Error('odd'),
    );
    const [item] = await storage.setAside.list({ limit: 1 });
    return item?.id ?? expect.fail('nothing was set aside');
  };

  it('is listed by role, with the reason', async () => {
    const id = await put('scheduler', 'one');
    await put('rescuer', 'two');
    const { items } = await api.get('/set-aside-items?role=scheduler');
    expect(items).to.have.lengthOf(1);
    expect(items[0]).to.deep.include({ id, role: 'scheduler', key: 'one', queue: 'mail', failures: 1 });
    expect(items[0]).to.have.nested.property('error.message', 'odd');
  });

  it('is shown by its id', async () => {
    const id = await put('recurring', 'nightly');
    expect((await api.get(`/set-aside-items/${id}`)).item).to.include({ id, key: 'nightly' });
  });

  it('is tried again at once after a retry', async () => {
    const id = await put('scheduler', 'three');
    const { result, from, until } = await during(() => api.put(`/set-aside-items/${id}/retry`));
    expect(result.status).to.equal(200);
    expect(new Date(String(result.item['retryAt']))).to.be.within(from, until);
  });

  it('is carried out by an operation on the job alone after a retry of what a bulk operation passed over', async () => {
    const { id: jobId } = await api.enqueue(api.newName());
    const id = await put('bulk', `cancel ${jobId}`, jobId);
    expect((await api.put(`/set-aside-items/${id}/retry`)).item).to.include({ id, retryAt: null });
    while (await storage.bulk.advance());
    expect((await storage.jobs.find(jobId))?.state).to.equal('cancelled');
    expect((await api.get(`/set-aside-items/${id}`)).status).to.equal(404);
  });

  it('is gone when it is dismissed', async () => {
    const id = await put('scheduler', 'four');
    expect((await api.delete(`/set-aside-items/${id}`)).status).to.equal(204);
    expect((await api.delete(`/set-aside-items/${id}`)).status).to.equal(404);
  });

  it('is not dismissed if it has changed since it was read', async () => {
    const id = await put('scheduler', 'five');
    const { headers } = await api.get(`/set-aside-items/${id}`);
    await put('scheduler', 'five');
    const conditions = { 'if-match': String(headers['etag']) };
    const answer = await api.call('DELETE', `/set-aside-items/${id}`, undefined, conditions);
    expect(answer.status).to.equal(412);
  });

  for (const path of ['/set-aside-items/1000', '/set-aside-items/none']) {
    it(`${path} is 404`, async () => {
      expect((await api.get(path)).status).to.equal(404);
      expect((await api.put(`${path}/retry`)).status).to.equal(404);
    });
  }
});
