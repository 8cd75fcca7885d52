import { MemoryStorage } from '@longshore/jobs';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { JobsApiUnderTest } from './support/jobs-api-under-test.js';

describe('Statistics over HTTP', () => {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  before(async () => {
    await api.start();
    storage.timings.started('mail', 'send', { waitedMs: 4_000, readyMs: 4_000 });
    storage.timings.ended('mail', 'send', 'done', 100);
    storage.timings.ended('mail', 'send', 'failed', 100);
    storage.timings.ended('bulk', 'import', 'retry', 60_000);
  });
  after(() => api.stop());

  it('are those of the last hour by the minute, of all jobs', async () => {
    const { items } = await api.get('/statistics?limit=100');
    expect(items).to.have.lengthOf(61);
    expect(items[0]).to.deep.include({ bucketMs: 60_000, queue: null, done: 1, failed: 1, retried: 1 });
  });

  it('are 20 without a limit, latest first', async () => {
    const { items } = await api.get('/statistics');
    const starts = items.map(({ startsAt }) => String(startsAt));
    expect(starts).to.have.lengthOf(20);
    expect(starts).to.deep.equal(starts.toSorted().toReversed());
  });

  it('are limited to a queue and a name', async () => {
    const { items } = await api.get('/statistics?queue=mail&name=send&bucketMs=3600000');
    expect(items[0]).to.deep.include({ queue: 'mail', name: 'send', done: 1, retried: 0, backlog: 0 });
    expect(items[0]).to.have.nested.property('waiting.p95Ms').within(3_600, 4_400);
    expect(items[0]).to.have.nested.property('running.meanMs', 100);
  });

  it('start within the requested times, both inclusive', async () => {
    const hour = 3_600_000;
    const start = Math.floor(clock.now() / hour) * hour;
    const at = (ms: number): string => new Date(ms).toISOString();
    const query = `bucketMs=${hour}&startsAfter=${at(start - 3 * hour)}&startsBefore=${at(start - hour)}`;
    const starts = async (parameters: string): Promise<unknown[]> =>
      (await api.get(`/statistics?${parameters}`)).items.map(({ startsAt }) => startsAt);
    expect(await starts(query)).to.deep.equal([at(start - hour), at(start - 2 * hour), at(start - 3 * hour)]);
    expect(await starts(`bucketMs=${hour}&startsAfter=${at(start - hour + 1)}`)).to.deep.equal([at(start)]);
  });

  for (const query of ['startsAfter=2099-01-01', 'startsAfter=2099-01-01&bucketMs=3600000'])
    it(`are none for ${query}`, async () => {
      expect(await api.get(`/statistics?${query}`)).to.deep.include({ status: 200, items: [] });
    });

  for (const query of [
    'queue=a&queue=b',
    'name=a&name=b',
    'bucketMs=60000&bucketMs=120000',
    'startsAfter=2020-01-01',
    'bucketMs=90000',
  ])
    it(`are rejected for ${query}`, async () => {
      expect((await api.get(`/statistics?${query}`)).codes).to.deep.equal([40003]);
    });
});
