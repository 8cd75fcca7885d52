import { MemoryStorage } from '@longshore/jobs';
import { expect } from 'chai';
import { JobsApiUnderTest } from './support/jobs-api-under-test.js';

describe('Deployments and job types over HTTP', () => {
  const storage = new MemoryStorage();
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  before(() => api.start());
  after(() => api.stop());

  it('creates, returns and deletes a deployment', async () => {
    const { status, item } = await api.post('/deployments', { version: '2.4.1', note: 'New mail server' });
    expect(status).to.equal(201);
    expect(item).to.include({ version: '2.4.1', note: 'New mail server', source: 'api' });
    const path = `/deployments/${item.id}`;
    expect((await api.get(path)).item).to.deep.equal(item);
    expect((await api.get('/deployments?version=2.4.1')).items).to.deep.equal([item]);
    expect((await api.delete(path)).status).to.equal(204);
    expect((await api.get(path)).status).to.equal(404);
  });

  it('records in the audit who has recorded one', async () => {
    const { item } = await api.post('/deployments', { version: '2.4.3' });
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'deployments/record', target: item.id, who: 'anonymous' });
  });

  it('keeps the reason of a deletion in the audit', async () => {
    const { item } = await api.post('/deployments', { version: '2.4.2' });
    expect((await api.delete(`/deployments/${item.id}?reason=mistake`)).status).to.equal(204);
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'deployments/delete', target: item.id, reason: 'mistake' });
  });

  it('rejects a deployment without a version', async () => {
    expect((await api.post('/deployments', { note: 'no' })).status).to.equal(422);
  });

  it('pauses and resumes a job type that has run', async () => {
    storage.timings.ended('mail', 'send', 'done', 1);
    expect((await api.put('/job-types/send/pause')).item)
      .to.have.property('pausedAt')
      .that.is.a('string');
    expect((await storage.jobTypes.listPaused()).map(({ name }) => name)).to.deep.equal(['send']);
    expect((await api.put('/job-types/send/resume')).item).to.include({ name: 'send', pausedAt: null });
    expect((await api.put('/job-types/unknown/pause')).status).to.equal(404);
  });
});
