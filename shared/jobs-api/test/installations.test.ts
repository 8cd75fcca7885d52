import { expect } from 'chai';
import { MemoryStorage } from '@longshore/jobs';
import { JobsApiUnderTest } from './support/jobs-api-under-test.js';

describe('/installations', () => {
  const storage = new MemoryStorage();
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  before(() => api.start());
  after(() => api.stop());

  it('has the installation, which one call resumes', async () => {
    const pausedAt = (await storage.installation.pauseCopy()).pausedAt?.toISOString();
    expect((await api.get('/installations')).items).to.deep.equal([{ name: 'longshore', pausedAt }]);
    expect((await api.put('/installations/longshore/resume', { reason: 'checked' })).item).to.deep.equal({
      name: 'longshore',
      pausedAt: null,
    });
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'installations/resume', target: 'longshore', reason: 'checked' });
  });

  it('has no other', async () => {
    expect((await api.get('/installations/another')).status).to.equal(404);
    expect((await api.put('/installations/another/resume')).status).to.equal(404);
  });
});
