import { MemoryStorage } from '@longshore/jobs';
import { expect } from 'chai';
import { JobsApiUnderTest } from './support/jobs-api-under-test.js';

const warning = {
  kind: 'queue-paused',
  key: 'queue mail is paused',
  subject: 'queue mail',
  text: 'Queue “mail” was paused.',
  advice: 'Resume it.',
  link: 'queues/mail',
  beganAt: new Date('2026-03-01T12:00:00Z'),
  isMeasured: false,
  isRecovering: false,
};

describe('Incidents, over HTTP', () => {
  const storage = new MemoryStorage();
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  let id: string;
  before(() => api.start());
  after(() => api.stop());
  beforeEach(async () => {
    await storage.incidents.observe([warning]);
    const [incident] = await storage.incidents.list({ isActive: true, limit: 1 });
    id = incident?.id ?? '';
  });

  it('are listed, with those that last by a filter', async () => {
    await storage.incidents.observe([{ ...warning, key: 'other', subject: 'other', link: '' }]);
    const keys = async (query: string) =>
      (await api.get(`/incidents?${query}`)).items.map((item) => [item['key'], item['ending']]);
    expect(await keys('isActive=true')).to.deep.equal([['other', null]]);
    expect(await keys('isActive=false')).to.deep.equal([[warning.key, 'resolved']]);
  });

  it('are shown by their id', async () => {
    const { item } = await api.get(`/incidents/${id}`);
    const { key, subject, text, advice } = warning;
    expect(item).to.deep.include({ id, key, subject, text, advice, isActive: true, endedAt: null });
    expect(item['since']).to.equal('2026-03-01T12:00:00.000Z');
  });

  it('are acknowledged with a reason', async () => {
    const { item } = await api.put(`/incidents/${id}/acknowledge`, { reason: 'I look into it' });
    expect(item).to.deep.include({ acknowledgeReason: 'I look into it' });
    expect(item['acknowledgedAt']).to.be.a('string');
  });

  it('are muted until a time, and unmuted', async () => {
    expect((await api.put(`/incidents/${id}/mute`, { until: inAnHour })).item['mutedUntil']).to.equal(
      inAnHour,
    );
    expect((await api.put(`/incidents/${id}/unmute`)).item['mutedUntil']).to.equal(null);
  });

  it('are not muted until a time in the past', async () => {
    const { status, text } = await api.put(`/incidents/${id}/mute`, { until: '2020-01-01T00:00:00Z' });
    expect(status).to.equal(422);
    expect(text).to.contain('in the future');
  });

  for (const path of ['01a22396-c5a0-7049-a34e-c7eab229156c', 'none'])
    it(`does not find ${path}`, async () => {
      expect((await api.get(`/incidents/${path}`)).status).to.equal(404);
      expect((await api.put(`/incidents/${path}/acknowledge`)).status).to.equal(404);
    });
});
