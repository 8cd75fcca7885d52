import { MemoryStorage } from '@longshore/jobs';
import type { OpenApiDocument } from '@longshore/test-support';
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

  it('rejects a time that no deployment can have, and says which there are', async () => {
    const { status, codes, text } = await api.post('/deployments', {
      version: '2.4.4',
      at: '1969-12-31T23:59:59Z',
    });
    expect([status, codes]).to.deep.equal([422, [42202]]);
    expect(text).to.contain('from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z');
    expect((await api.get('/deployments?version=2.4.4')).items).to.deep.equal([]);
  });

  it('accepts the earliest time, which the document states', async () => {
    const at = '1970-01-01T00:00:00.000Z';
    expect((await api.post('/deployments', { version: '0.0.1', at })).item).to.include({ at });
    const { components } = (await api.get('/openapi.json')).item as unknown as OpenApiDocument;
    const { at: time } = components.schemas['DeploymentCreate']?.properties ?? {};
    expect(time?.description).to.contain('from 1970 on');
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
