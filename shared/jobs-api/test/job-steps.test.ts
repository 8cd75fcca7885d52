import {
  defineJob,
  handleJob,
  JobClient,
  JobEvents,
  JobServer,
  MemoryStorage,
  silentLogger,
  type JobState,
} from '@longshore/jobs';
import { maxSignalBytes, maxSignalsBytes } from '@longshore/jobs/storage';
import { createResourceApi } from '@longshore/resources';
import { apiClient, eventually, type HttpClient, serve, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import Type from 'typebox';
import { jobsApi } from '../src/index.js';

const fulfil = defineJob({ name: 'fulfil', result: Type.Unknown(), maxAttempts: 1 });

/** Charges, waits until the parcel is packed, and fails unless it has a weight. */
const handler = handleJob(fulfil, async ({ step, waitFor }) => {
  await step('charge', () => ({ paid: 7 }));
  const packed = (await waitFor('packed', { timeoutMs: 86_400_000 })) as { weight?: number } | null;
  await step('label', () => {
    if (packed?.weight === undefined) throw new Error('No weight');
    return packed.weight;
  });
  return packed;
});

describe('The steps of a job over HTTP', () => {
  let storage: MemoryStorage;
  let client: JobClient;
  let worker: JobServer;
  let server: TestServer;
  let api: HttpClient;

  beforeEach(async () => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({ storage, client, events: new JobEvents(storage), definitions: [fulfil] }),
        baseUrl: 'https://jobs.example',
        log: { incident: () => undefined },
      }),
    );
    const handle = app.callback();
    server = await serve((request, response) => void handle(request, response));
    api = apiClient(server.url);
    worker = new JobServer({ storage, handlers: [handler], logger: silentLogger });
    await worker.start();
  });

  afterEach(async () => {
    await worker.stop();
    await server.close();
    await storage.close();
  });

  const put = async (path: string, body: object): Promise<{ status: number; body: unknown }> => {
    const answer = await api.request('PUT', `/api/v1${path}`, { body });
    return { status: answer.status, body: answer.json() };
  };
  const get = async (path: string): Promise<unknown> => (await api.get(`/api/v1${path}`)).json();

  const inState = (id: string, state: JobState): Promise<unknown> =>
    eventually(
      async () => (await storage.jobs.find(id))?.state,
      (current) => current === state,
    );

  /** Enqueues a job and waits until it waits to be packed. */
  const waiting = async (correlate?: string): Promise<string> => {
    const { id } = await client.enqueue(fulfil, {}, correlate === undefined ? {} : { correlate });
    await inState(id, 'scheduled');
    return id;
  };

  it('PUT /jobs/{id}/signal sends what the handler waits for, and the job goes on', async () => {
    const id = await waiting();
    const { status } = await put(`/jobs/${id}/signal`, { name: 'packed', data: { weight: 3 } });
    await inState(id, 'done');
    expect([status, (await storage.jobs.find(id))?.result]).to.deep.equal([200, { weight: 3 }]);
  });

  it('PUT /jobs/{id}/signal with the same id changes nothing, and a finished job refuses it', async () => {
    const id = await waiting();
    const vote = { name: 'vote', id: 'ada' };
    for (const data of [1, 2])
      expect((await put(`/jobs/${id}/signal`, { ...vote, data })).status).to.equal(200);
    const { signals } = await storage.steps.read({ id });
    expect(signals.map(({ name, data }) => [name, data])).to.deep.equal([['vote', 1]]);
    await put(`/jobs/${id}/signal`, { name: 'packed', data: { weight: 3 } });
    await inState(id, 'done');
    const refused = await put(`/jobs/${id}/signal`, vote);
    expect(refused.status).to.equal(409);
    expect(JSON.stringify(refused.body)).to.contain('cannot be signalled: it is done');
  });

  it('refuses a signal with a name that announces the end of a job', async () => {
    const id = await waiting();
    expect((await put(`/jobs/${id}/signal`, { name: 'job:x' })).status).to.equal(422);
  });

  it('PUT /jobs/signal reaches all unfinished jobs with the key, and answers with them', async () => {
    const ids = [await waiting('order:7'), await waiting('order:7')];
    const other = await waiting('order:8');
    const body = { correlate: 'order:7', name: 'packed', data: { weight: 3 }, reason: 'By telephone' };
    const answer = await put('/jobs/signal', body);
    expect(answer.status).to.equal(200);
    expect((answer.body as { id: string }[]).map(({ id }) => id).toSorted()).to.deep.equal(ids.toSorted());
    for (const id of ids) await inState(id, 'done');
    const entries = await storage.audit.list({ limit: 5 });
    expect(entries.map(({ target, reason }) => [target, reason])).to.have.deep.members(
      ids.map((id) => [id, 'By telephone']),
    );
    expect((await storage.jobs.find(other))?.awaits).to.deep.equal(['packed']);
  });

  it('a job that has too many signals answers 409, which says what to do, also by its key', async () => {
    const { id } = await client.enqueue(fulfil, {}, { correlate: 'order:8', delayMs: 3_600_000 });
    const data = 'x'.repeat(maxSignalBytes - 2);
    for (let bytes = 0; bytes < maxSignalsBytes; bytes += maxSignalBytes)
      await storage.steps.signal(id, { name: 'large', data });
    for (const [path, target] of [
      [`/jobs/${id}/signal`, {}],
      ['/jobs/signal', { correlate: 'order:8' }],
    ] as const) {
      const answer = await put(path, { name: 'packed', ...target });
      expect(answer.status, path).to.equal(409);
      expect(JSON.stringify(answer.body)).to.contain('split the job with enqueueAndWait');
    }
  });

  it('PUT /jobs/signal answers 404, which says what to do, if no job has the key', async () => {
    const answer = await put('/jobs/signal', { correlate: 'order:9', name: 'packed' });
    expect(answer.status).to.equal(404);
    expect(JSON.stringify(answer.body)).to.contain('Enqueue the job with this key before');
    expect((await put('/jobs/signal', { name: 'packed' })).status, 'without a key').to.equal(422);
    expect((await put('/jobs/signal?queue=mail', { correlate: 'x', name: 'y' })).status).to.equal(400);
  });

  it('GET /jobs filters by the key and by the signals that jobs wait for, which they show', async () => {
    const id = await waiting('order:7');
    await waiting();
    expect(await get('/jobs?correlate=order:7&fields=id,correlate,awaits')).to.deep.equal([
      { id, correlate: 'order:7', awaits: ['packed'] },
    ]);
    expect(await get('/jobs?awaits=packed&fields=id')).to.have.length(2);
    expect(await get('/jobs?awaits=weighed&fields=id')).to.deep.equal([]);
  });

  it('POST /jobs takes the key', async () => {
    const answer = await api.request('POST', '/api/v1/jobs', {
      body: { name: 'fulfil', correlate: 'order:7' },
    });
    expect(answer.json()).to.include({ correlate: 'order:7' });
  });

  it('GET /jobs/{id}/steps lists the steps in the order of their start, with who signalled', async () => {
    const id = await waiting();
    await put(`/jobs/${id}/signal`, { name: 'packed', data: {}, id: 'parcel:1' });
    await inState(id, 'failed');
    const steps = (await get(`/jobs/${id}/steps`)) as Record<string, unknown>[];
    expect(steps.map(({ name, kind, state, attempts }) => [name, kind, state, attempts])).to.deep.equal([
      ['charge', 'step', 'done', 1],
      ['packed', 'wait', 'done', 0],
      ['label', 'step', 'failed', 1],
    ]);
    expect(steps[0]).to.deep.include({ result: { paid: 7 }, signals: [], error: null, isRemembered: true });
    const signals = steps[1]?.['signals'] as Record<string, unknown>[];
    expect(signals.map(({ id: signalId, sentBy }) => [signalId, sentBy])).to.deep.equal([
      ['parcel:1', 'anonymous'],
    ]);
    expect(steps[2]?.['error']).to.include({ name: 'Error', message: 'No weight' });
  });

  it('GET /jobs/{id}/steps shows until when a job waits', async () => {
    const id = await waiting();
    const steps = (await get(
      `/jobs/${id}/steps?sort=-position&fields=name,state,until,durationMs`,
    )) as object[];
    const runAt = (await storage.jobs.find(id))?.runAt?.toISOString();
    expect(steps[0]).to.deep.equal({ name: 'packed', state: 'waiting', until: runAt, durationMs: null });
  });

  it('GET /jobs/{id}/transitions gives the reason `suspended`', async () => {
    const id = await waiting();
    const transitions = (await get(`/jobs/${id}/transitions`)) as { state: string; reason: string }[];
    expect(transitions.at(-1)).to.include({ state: 'scheduled', reason: 'suspended' });
  });

  it('PUT /jobs/{id}/rerun-from drops the step and later ones, and the audit log names them', async () => {
    const id = await waiting();
    await put(`/jobs/${id}/signal`, { name: 'packed', data: { weight: 3 } });
    await inState(id, 'done');
    expect((await put(`/jobs/${id}/rerun-from`, { step: 'packed' })).status, 'done').to.equal(409);

    const other = await waiting();
    await put(`/jobs/${other}/signal`, { name: 'packed', data: {} });
    await inState(other, 'failed');
    const answer = await put(`/jobs/${other}/rerun-from`, { step: 'packed', reason: 'weighed' });
    expect(answer.status).to.equal(200);
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.deep.include({ action: 'jobs/rerun-from', target: other, reason: 'weighed' });
    expect(entry?.filter).to.deep.include({ before: { dropped: ['packed', 'label'] } });
  });

  it('PUT /jobs/{id}/rerun-from refuses a step that the job does not have', async () => {
    const id = await waiting();
    const answer = await put(`/jobs/${id}/rerun-from`, { step: 'ship' });
    expect(answer.status).to.equal(409);
    expect(JSON.stringify(answer.body)).to.contain('it has no step “ship”');
  });
});
