import { eventually, type HttpResponse } from '@longshore/test-support';
import { expect } from 'chai';
import { runApi, type RunningApi } from './support/running-api.js';

describe('An api with limits on its input', () => {
  let api: RunningApi;
  before(async () => {
    api = await runApi({
      API_AUTH: 'none',
      API_ADMIN_KEY: '',
      API_MAX_BACKLOG: '2',
      API_BODY_LIMIT_BYTES: '2048',
    });
  });
  after(() => api.stop());

  const job = { name: 'test', args: { waitMs: 1 } };
  const post = (path: string, json: unknown) => api.call('POST', `/api/v1${path}`, { json });

  it('accepts no more jobs into a queue than API_MAX_BACKLOG, and says which and when to retry', async () => {
    const json = { ...job, queue: 'full' };
    const statuses = [await post('/jobs', json), await post('/jobs', json)].map(({ status }) => status);
    const refused = await post('/jobs', json);
    expect([...statuses, refused.status, refused.headers['retry-after']]).to.deep.equal([201, 201, 429, '1']);
    expect(refused.text).to.contain('42901').and.to.contain('\\"full\\" has 2 ready jobs');
  });

  it('rejects a batch that does not fit completely', async () => {
    const jobs = Array.from({ length: 3 }, () => ({ ...job, queue: 'batched' }));
    expect((await post('/batches', { jobs })).status).to.equal(429);
    expect((await api.call('GET', '/api/v1/jobs?queue=batched')).json()).to.deep.equal([]);
  });

  it('rejects a body larger than API_BODY_LIMIT_BYTES', async () => {
    expect((await post('/jobs', { ...job, tags: ['x'.repeat(2_048)] })).status).to.equal(413);
  });
});

describe('An api with a limit on requests', () => {
  it('counts requests for its metrics, too', async () => {
    const api = await runApi({ API_RATE_LIMIT_PER_SECOND: '1', API_RATE_LIMIT_BURST: '2' });
    const rounds: HttpResponse[][] = [];
    // More requests at once than a second brings; again if the machine took too long for all of them.
    const answers = await eventually(
      async () => {
        rounds.push(await Promise.all(Array.from({ length: 40 }, () => api.call('GET', '/metrics'))));
        return rounds.flat();
      },
      (all) => all.some(({ status }) => status === 429),
    );
    await api.stop();
    const admitted = rounds[0]?.filter(({ status }) => status === 200) ?? [];
    expect(admitted.length).to.be.at.least(2); // the burst, however little time has passed
    const limited = answers.filter(({ status }) => status !== 200);
    expect(new Set(limited.map(({ status }) => status))).to.deep.equal(new Set([429]));
    expect(limited[0]?.text).to.contain('42901');
  });
});
