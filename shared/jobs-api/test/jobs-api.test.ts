import {
  defineJob,
  handleJob,
  JobClient,
  JobEvents,
  JobServer,
  MemoryStorage,
  StorageUnavailableError,
} from '@longshore/jobs';
import { createResourceApi } from '@longshore/resources';
import {
  eventually,
  httpClient,
  type HttpClient,
  nextMillisecond,
  patientServer,
  serve,
  type TestServer,
} from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import Type from 'typebox';
import { classifyStorageError, jobsApi } from '../src/index.js';

const add = defineJob({
  name: 'add',
  args: Type.Object({ a: Type.Number(), b: Type.Number() }, { additionalProperties: false }),
});

interface JobBody {
  id: string;
  state: string;
  [field: string]: unknown;
}

const job = { name: 'add', args: { a: 1, b: 2 } };

describe('Jobs as resources', () => {
  let storage: MemoryStorage;
  let server: TestServer;
  let api: HttpClient;

  beforeEach(async () => {
    storage = new MemoryStorage();
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({
          storage,
          client: new JobClient(storage),
          events: new JobEvents(storage),
          definitions: [add],
        }),
        baseUrl: 'https://jobs.example',
        classifyError: classifyStorageError,
        log: { incident: () => undefined },
      }),
    );
    const handle = app.callback();
    server = await serve((request, response) => void handle(request, response));
    api = httpClient(server.url);
  });

  afterEach(async () => {
    await server.close();
    await storage.close();
  });

  const post = async (body: object = { name: 'add', args: { a: 1, b: 2 } }): Promise<JobBody> =>
    (await api.post('/api/v1/jobs', body)).json() as JobBody;

  const codesOf = (response: { json(): unknown }): number[] =>
    (response.json() as { errors: { code: number }[] }).errors.map(({ code }) => code);

  const put = (path: string) => api.request('PUT', path);

  it('POST /jobs answers 201 with the job and its location', async () => {
    const response = await api.post('/api/v1/jobs', { name: 'add', args: { a: 1, b: 2 } });
    const job = response.json() as JobBody;
    expect(response.status).to.equal(201);
    expect(response.headers.location).to.equal(`https://jobs.example/api/v1/jobs/${job.id}`);
    expect(job).to.deep.include({
      name: 'add',
      queue: 'default',
      state: 'enqueued',
      args: { a: 1, b: 2 },
      attempt: 0,
    });
  });

  it('POST /jobs takes queue, priority, attempts and time', async () => {
    const runAt = new Date(Date.now() + 3_600_000).toISOString();
    const job = await post({
      name: 'add',
      args: { a: 1, b: 2 },
      queue: 'sums',
      priority: -5,
      maxAttempts: 3,
      runAt,
    });
    expect(job).to.include({ queue: 'sums', priority: -5, maxAttempts: 3, runAt, state: 'scheduled' });
  });

  it('POST /jobs with arguments that do not fit is 422 and names each path', async () => {
    const response = await api.post('/api/v1/jobs', { name: 'add', args: { a: 'one', c: 3 } });
    expect(response.status).to.equal(422);
    expect(codesOf(response)).to.have.members([42201, 42202, 42203]);
    expect(response.text).to.contain('args.a must be number');
    expect(response.text).to.contain('args.b is missing');
    expect(response.text).to.contain('args.c is not an argument of this job');
  });

  it('POST /jobs with a name that no job has is 422 and lists the names', async () => {
    const response = await api.post('/api/v1/jobs', { name: 'subtract' });
    expect(codesOf(response)).to.deep.equal([42202]);
    expect(response.text).to.contain('it has add');
  });

  it('GET /jobs lists the newest first, with the count', async () => {
    const first = await post();
    await nextMillisecond();
    const second = await post();
    const response = await api.get('/api/v1/jobs');
    expect((response.json() as JobBody[]).map(({ id }) => id)).to.deep.equal([second.id, first.id]);
    expect(response.headers['x-total-count']).to.equal('2');
  });

  it('GET /jobs filters by state, queue and name', async () => {
    const { id } = await post({ name: 'add', args: { a: 1, b: 2 }, queue: 'sums' });
    await post();
    const response = await api.get('/api/v1/jobs?queue=sums&state=enqueued&name=add');
    expect((response.json() as JobBody[]).map((job) => job.id)).to.deep.equal([id]);
  });

  const idsAt = async (query: string): Promise<string[]> =>
    ((await api.get(`/api/v1/jobs?${query}`)).json() as JobBody[]).map(({ id }) => id);

  it('GET /jobs filters by tag, repeated for any of them', async () => {
    const [first, second] = [await post({ ...job, tags: ['a'] }), await post({ ...job, tags: ['b', 'c'] })];
    await post();
    expect(await idsAt('tag=a&tag=c')).to.have.members([first.id, second.id]);
  });

  it('GET /jobs filters by the time of creation, both bounds included', async () => {
    const { id } = await post();
    const at = new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString();
    expect(await idsAt(`createdAfter=${at}&createdBefore=${at}`)).to.deep.equal([id]);
    expect(await idsAt('createdAfter=2100-01-01T00:00:00Z')).to.deep.equal([]);
  });

  it('GET /jobs filters by arguments, numbers and text alike', async () => {
    const { id } = await post({ name: 'add', args: { a: 7, b: 2 } });
    await post();
    expect(await idsAt('args.a=7')).to.deep.equal([id]);
  });

  it('GET /jobs with a time that is none is 400', async () => {
    expect((await api.get('/api/v1/jobs?finishedAfter=yesterday')).status).to.equal(400);
  });

  it('GET /jobs with a state that does not exist is 400', async () => {
    expect(codesOf(await api.get('/api/v1/jobs?state=sleeping'))).to.deep.equal([40003]);
  });

  it('GET /jobs/{id} of an unknown job is 404', async () => {
    expect(codesOf(await api.get('/api/v1/jobs/none'))).to.deep.equal([40402]);
  });

  it('GET /jobs/{id}/attempts lists the runs of a job', async () => {
    const { id } = await post();
    const worker = new JobServer({
      ...patientServer,
      storage,
      handlers: [handleJob(add, ({ args }) => args.a + args.b)],
    });
    await worker.start();
    await eventually(
      async () => (await storage.jobs.find(id))?.state,
      (state) => state === 'done',
    );
    await worker.stop();
    const attempts = (await api.get(`/api/v1/jobs/${id}/attempts`)).json() as JobBody[];
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).to.deep.equal([[1, 'done']]);
  });

  it('PUT /jobs/{id}/cancel cancels, and a second time changes nothing', async () => {
    const { id } = await post();
    const first = await put(`/api/v1/jobs/${id}/cancel`);
    const second = await put(`/api/v1/jobs/${id}/cancel`);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect((second.json() as JobBody).state).to.equal('cancelled');
  });

  it('PUT /jobs/{id}/retry sends a cancelled job back to its queue', async () => {
    const { id } = await post();
    await put(`/api/v1/jobs/${id}/cancel`);
    expect(((await put(`/api/v1/jobs/${id}/retry`)).json() as JobBody).state).to.equal('enqueued');
  });

  it('PUT /jobs/{id}/run makes a scheduled job ready', async () => {
    const { id } = await post({ name: 'add', args: { a: 1, b: 2 }, runAt: '2100-01-01T00:00:00Z' });
    expect(((await put(`/api/v1/jobs/${id}/run`)).json() as JobBody).state).to.equal('enqueued');
  });

  it('PUT /jobs/{id}/run of a cancelled job is 409', async () => {
    const { id } = await post();
    await put(`/api/v1/jobs/${id}/cancel`);
    expect(codesOf(await put(`/api/v1/jobs/${id}/run`))).to.deep.equal([40902]);
  });

  it('DELETE /jobs/{id} forgets a finished job and refuses another', async () => {
    const { id } = await post();
    expect(codesOf(await api.request('DELETE', `/api/v1/jobs/${id}`))).to.deep.equal([40902]);
    await put(`/api/v1/jobs/${id}/cancel`);
    expect((await api.request('DELETE', `/api/v1/jobs/${id}`)).status).to.equal(204);
    expect((await api.get(`/api/v1/jobs/${id}`)).status).to.equal(404);
  });

  it('a storage that cannot be reached is 503 with Retry-After', async () => {
    storage.enqueuer.enqueue = () => Promise.reject(new StorageUnavailableError('away'));
    const response = await api.post('/api/v1/jobs', { name: 'add', args: { a: 1, b: 2 } });
    expect(response.status).to.equal(503);
    expect(codesOf(response)).to.deep.equal([50301]);
    expect(response.headers['retry-after']).to.equal('2');
  });
});
