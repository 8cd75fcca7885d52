import { defineJob, handleJob, JobClient, JobEvents, JobServer, MemoryStorage } from '@longshore/jobs';
import { createResourceApi } from '@longshore/resources';
import { eventually, httpClient, type HttpClient, serve, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { jobsApi } from '../src/index.js';

const work = defineJob({ name: 'work' });

describe('What belongs to a job, as resources', () => {
  let storage: MemoryStorage;
  let client: JobClient;
  let server: TestServer;
  let api: HttpClient;

  beforeEach(async () => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({ storage, client, events: new JobEvents(storage), definitions: [work] }),
        baseUrl: 'https://jobs.example',
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

  it('GET /jobs/{id}/continuations lists the jobs that wait for it, the oldest first', async () => {
    const parent = await client.enqueue(work, {});
    const children = await client.enqueueMany(
      [1, 2].map(() => ({ definition: work, args: {}, options: { after: { parents: [parent.id] } } })),
    );
    const response = await api.get(`/api/v1/jobs/${parent.id}/continuations`);
    const found = response.json() as { id: string; state: string }[];
    expect(found.map(({ id }) => id)).to.deep.equal(children.map(({ id }) => id).toSorted());
    expect(found[0]?.state).to.equal('awaiting');
    expect(response.headers['x-total-count']).to.equal('2');
  });

  it('GET /jobs?enqueuedBy={id} lists the jobs that its handler enqueued, which have its id', async () => {
    const { id } = await client.enqueue(work, {});
    const handled = client.boundTo(() => ({ enqueuedBy: id }));
    const { id: enqueued } = await handled.enqueue(work, {});
    const answer = await api.get(`/api/v1/jobs?enqueuedBy=${id.toUpperCase()}&fields=id,enqueuedBy`);
    expect([answer.status, answer.json()]).to.deep.equal([200, [{ id: enqueued, enqueuedBy: id }]]);
    expect((await api.get(`/api/v1/jobs/${id}`)).json()).to.include({ enqueuedBy: null });
  });

  it('GET /jobs?enqueuedBy= refuses what is not an id', async () => {
    expect((await api.get('/api/v1/jobs?enqueuedBy=nobody')).status).to.equal(400);
  });

  it('GET /jobs/{id}/logs lists what the handler logged, and the job shows its progress', async () => {
    const handler = handleJob(work, ({ log, progress }) => {
      for (const step of [1, 2, 3]) log.info(`step ${step}`, { step });
      progress(75, 'nearly');
    });
    const worker = new JobServer({ storage, handlers: [handler] });
    await worker.start();
    const { id } = await client.enqueue(work, {});
    await eventually(
      async () => (await storage.jobs.find(id))?.state,
      (state) => state === 'done',
    );
    await worker.stop();
    const response = await api.get(`/api/v1/jobs/${id}/logs?attempt=1&limit=2&sort=-id`);
    const lines = response.json() as { message: string; fields: object; level: string; at: string }[];
    expect(lines.map(({ message }) => message)).to.deep.equal(['step 3', 'step 2']);
    expect(lines[0]).to.deep.include({ level: 'info', fields: { step: 3 } });
    expect(response.headers['x-total-count']).to.equal('3');
    const ofTwo = await api.get(`/api/v1/jobs/${id}/logs?attempt=1&attempt=2`);
    expect(ofTwo.status).to.equal(400);
    const job = (await api.get(`/api/v1/jobs/${id}`)).json() as { progress: unknown };
    expect(job.progress).to.deep.equal({ percent: 75, message: 'nearly' });
  });

  it('GET /jobs/{id}/transitions lists the states that it has been in, with the reasons', async () => {
    const { id } = await client.enqueue(work, {}, { delayMs: 3_600_000 });
    await storage.control.run(id);
    await storage.control.cancel(id);
    const response = await api.get(`/api/v1/jobs/${id}/transitions`);
    const steps = response.json() as {
      number: number;
      state: string;
      reason: string;
      runAt: string | null;
    }[];
    expect(steps.map(({ number, state, reason }) => [number, state, reason])).to.deep.equal([
      [1, 'scheduled', 'created'],
      [2, 'enqueued', 'run'],
      [3, 'cancelled', 'cancelled'],
    ]);
    expect(steps[0]?.runAt).to.be.a('string');
  });

  it('GET /jobs/{id}/continuations of a job that does not exist is 404', async () => {
    const response = await api.get('/api/v1/jobs/0199a0a0-0000-7000-8000-000000000000/continuations');
    expect(response.status).to.equal(404);
  });
});
