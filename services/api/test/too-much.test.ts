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

describe('An api with quotas', () => {
  let api: RunningApi;
  before(async () => {
    api = await runApi({
      API_AUTH: 'none',
      API_ADMIN_KEY: '',
      API_MAX_QUEUES_PER_CALLER: '2',
      API_MAX_RECURRING_JOBS_PER_CALLER: '1',
      API_MAX_DEPLOYMENTS_PER_CALLER: '1',
      API_MAX_BACKLOG: '1',
    });
  });
  after(() => api.stop());

  const job = { name: 'test', args: { waitMs: 1 } };
  const post = (path: string, json: unknown) => api.call('POST', `/api/v1${path}`, { json });
  const recurring = { id: 'nightly', ...job, cron: '0 3 * * *', queue: 'default' };

  it('creates no more queues for a caller than its quota, and says what to do', async () => {
    const jobs = Array.from({ length: 2_000 }, (_, index) => ({ ...job, queue: `flood-${index}` }));
    const refused = await post('/jobs', jobs);
    expect(refused.status).to.equal(422);
    expect(refused.text)
      .to.contain(
        '\\"flood-0\\" and 1999 other queues: you have created 0 of at most 2 queues; use one that exists',
      )
      .and.to.contain('42202');
    const queues = (await api.call('GET', '/api/v1/queues')).json() as { name: string }[];
    expect(queues.filter(({ name }) => name.startsWith('flood'))).to.deep.equal([]);
  });

  it('counts the queues of edited jobs, batches and recurring jobs, too', async () => {
    const later = await post('/jobs', { ...job, queue: 'mine', delayMs: 3_600_000 });
    expect(later.status).to.equal(201);
    expect((await post('/batches', { jobs: [{ ...job, queue: 'also-mine' }] })).status).to.equal(201);
    const { id } = later.json() as { id: string };
    const moved = await api.call('PATCH', `/api/v1/jobs/${id}`, { json: { queue: 'third' } });
    const scheduled = await post('/recurring-jobs', { ...recurring, id: 'other', queue: 'fourth' });
    for (const answer of [moved, scheduled]) {
      expect(answer.status).to.equal(422);
      expect(answer.text).to.contain('you have created 2 of at most 2 queues');
    }
  });

  it('has the queues of the application’s jobs from the start, outside the quota', async () => {
    const queues = (await api.call('GET', '/api/v1/queues')).json() as { name: string }[];
    expect(queues.map(({ name }) => name)).to.include('default');
  });

  it('creates no more recurring jobs for a caller than its quota, and none that is due too often', async () => {
    const often = await post('/recurring-jobs', { ...recurring, cron: '*/10 * * * * *' });
    expect(often.status).to.equal(422);
    expect(often.text).to.contain('may be due every 60 s at most');
    const statuses = [
      await post('/recurring-jobs', recurring),
      await post('/recurring-jobs', { ...recurring, id: 'second' }),
    ].map(({ status }) => status);
    expect(statuses).to.deep.equal([201, 422]);
    const changed = await api.call('PATCH', '/api/v1/recurring-jobs/nightly', {
      json: { cron: '* * * * * *' },
    });
    expect(changed.status).to.equal(422);
  });

  it('records no more deployments for a caller than its quota, and says what to do', async () => {
    expect((await post('/deployments', { version: '1.0.0' })).status).to.equal(201);
    const refused = await post('/deployments', { version: '1.0.1' });
    expect(refused.status).to.equal(422);
    expect(refused.text).to.contain(
      'does not allow another deployment: you have created 1 of at most 1 deployments; delete the records',
    );
    const versions = (await api.call('GET', '/api/v1/deployments')).json() as { version: string }[];
    expect(versions.map(({ version }) => version)).to.deep.equal(['1.0.0']);
  });

  it('creates no queue beyond the quota of the caller with POST /queues, either', async () => {
    const refused = await post('/queues', { name: 'fifth', concurrencyLimit: 1 });
    expect(refused.status).to.equal(422);
    expect(refused.text).to.contain('you have created 2 of at most 2 queues');
    expect((await api.call('GET', '/api/v1/queues/fifth')).status).to.equal(404);
  });

  it('triggers no recurring job whose queue is full', async () => {
    await api.call('PUT', '/api/v1/queues/default/pause');
    await eventually(
      () => post('/jobs', { ...job, queue: 'default' }),
      ({ status }) => status === 429,
    );
    expect((await api.call('PUT', '/api/v1/recurring-jobs/nightly/trigger')).status).to.equal(429);
    await api.call('PUT', '/api/v1/queues/default/resume');
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
