import { randomUUID } from 'node:crypto';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { runApi, type RunningApi, adminKey } from './support/running-api.js';

describe('A key for certain queues', () => {
  let api: RunningApi;
  let token = '';
  let own = '';
  let foreign = '';
  before(async () => {
    api = await runApi();
    token = (await api.makeKey({ scopes: ['read', 'write', 'operate'], queues: ['mail'] })).token;
    own = await enqueue('mail');
    foreign = await enqueue('reports');
  });
  after(() => api.stop());

  const job = (fields: object) => ({ name: 'test', args: { waitMs: 1 }, ...fields });
  const enqueue = async (queue: string): Promise<string> => {
    const made = await api.call('POST', '/api/v1/jobs', { token: adminKey, json: job({ queue }) });
    return (made.json() as { id: string }).id;
  };
  const status = async (method: string, path: string, json?: object) =>
    (await api.call(method, `/api/v1${path}`, { token, ...(json && { json }) })).status;
  const ids = async (path: string) =>
    ((await api.call('GET', `/api/v1${path}`, { token })).json() as { id: string }[]).map(({ id }) => id);

  it('sees only the jobs of its queues', async () => {
    expect(await ids('/jobs')).to.deep.equal([own]);
    expect(await ids('/jobs?queue=mail&queue=reports')).to.deep.equal([own]);
    expect(await ids('/jobs?queue=reports')).to.deep.equal([]);
    expect(await status('GET', `/jobs/${foreign}`)).to.equal(404);
    expect(await status('GET', `/jobs/${foreign}/attempts`)).to.equal(404);
  });

  it('sees only its queues', async () => {
    const { text } = await api.call('GET', '/api/v1/queues?fields=name', { token });
    expect(JSON.parse(text)).to.deep.equal([{ name: 'mail' }]);
    expect(await status('GET', '/queues/reports')).to.equal(404);
    expect(await status('GET', '/queues/reports/jobs')).to.equal(404);
    expect(await ids('/queues/mail/jobs')).to.deep.equal([own]);
  });

  it('enqueues only into its queues, even if the queue is the definition’s', async () => {
    const answers = [
      await status('POST', '/jobs', job({ queue: 'mail' })),
      await status('POST', '/jobs', job({ queue: 'reports' })),
      await status('POST', '/jobs', job({})),
    ];
    expect(answers).to.deep.equal([201, 403, 403]);
    expect(await status('POST', '/queues/mail/jobs', job({}))).to.equal(201);
    expect(await status('POST', '/queues/reports/jobs', job({}))).to.equal(404);
  });

  it('shares no idempotency keys with keys for other queues', async () => {
    const other = (await api.makeKey({ scopes: ['read', 'write'], queues: ['reports'] })).token;
    const send = async (by: string, queue: string, waitMs: number) => {
      const answer = await api.call('POST', '/api/v1/jobs', {
        token: by,
        json: { ...job({ queue, idempotencyKey: 'order-7' }), args: { waitMs } },
        headers: { 'idempotency-key': 'request-7' },
      });
      const { id, queue: of } = answer.json() as { id: string; queue: string };
      return { status: answer.status, replayed: answer.headers['idempotent-replayed'], id, queue: of };
    };
    const [first, second] = [await send(token, 'mail', 1), await send(other, 'reports', 2)];
    expect(first).to.include({ status: 201, replayed: undefined, queue: 'mail' });
    expect(second).to.include({ status: 201, replayed: undefined, queue: 'reports' });
    expect(await send(token, 'mail', 1)).to.include({ status: 201, replayed: 'true', id: first.id });
    expect(await send(other, 'reports', 2)).to.include({ status: 201, replayed: 'true', id: second.id });
  });

  it('learns nothing about the size of jobs that it cannot see', async () => {
    const refusal = async (changes: readonly object[]) => {
      const answer = await api.call('PUT', '/api/v1/jobs', { token, json: changes });
      return [answer.status, answer.text.replaceAll(foreign, 'ID').replaceAll(randomId, 'ID')];
    };
    const randomId = '01890a5d-ac96-774b-bcce-b302099a8057';
    const own = { id: await enqueue('mail'), priority: 1 };
    expect(await refusal([own, { id: foreign, priority: 1 }])).to.deep.equal(
      await refusal([own, { id: randomId, priority: 1 }]),
    );
  });

  it('accepts as parents only jobs that it can see: others are unknown to it', async () => {
    const post = (parent: string) => {
      const json = job({ queue: 'mail', after: { parents: [parent] } });
      return api.call('POST', '/api/v1/jobs', { token, json });
    };
    const batch = { jobs: [job({ queue: 'mail' })] };
    const made = await api.call('POST', '/api/v1/batches', { token: adminKey, json: batch });
    const batchId = (made.json() as { id: string }).id;
    const unknown = randomUUID();
    const refusals = await Promise.all(
      [unknown, foreign, batchId].map(async (id) => [id, await post(id)] as const),
    );
    for (const [id, { status: code, text }] of refusals) {
      expect(code).to.equal(422);
      expect(text).to.contain(`There is no job or batch ${id} to depend on`);
    }
    const following = (
      await api.call('GET', `/api/v1/jobs/${foreign}/continuations`, { token: adminKey })
    ).json();
    expect(following).to.deep.equal([]);
    expect((await post(await enqueue('mail'))).status).to.equal(201);
  });

  it('sees only those dependents of its jobs that are in its queues', async () => {
    const waiting = { after: { parents: [own] } };
    const mine = await api.call('POST', '/api/v1/jobs', { token, json: job({ queue: 'mail', ...waiting }) });
    await api.call('POST', '/api/v1/jobs', { token: adminKey, json: job({ queue: 'reports', ...waiting }) });
    expect(await ids(`/jobs/${own}/continuations`)).to.deep.equal([(mine.json() as { id: string }).id]);
  });

  it('acts only on the jobs and queues it can see', async () => {
    const answers = [
      await status('PUT', `/jobs/${foreign}/cancel`),
      await status('PUT', '/queues/reports/pause'),
      await status('PUT', '/queues/mail/pause'),
      await status('PUT', `/jobs/${own}/cancel`),
    ];
    expect(answers).to.deep.equal([404, 404, 200, 200]);
    const left = await api.call('GET', `/api/v1/jobs/${foreign}?fields=state`, { token: adminKey });
    expect(left.json()).to.deep.equal({ state: 'enqueued' });
  });

  it('cannot tell jobs of other queues from missing ones, in whatever request names them', async () => {
    const hidden = await enqueue('reports');
    const shown = await enqueue('mail');
    const change = { priority: 1 };
    const requests: readonly (readonly [
      method: string,
      path: (id: string) => string,
      json?: (id: string) => object,
    ])[] = [
      ['GET', (id) => `/jobs/${id}`],
      ['GET', (id) => `/jobs/${id}?wait=1`],
      ['GET', (id) => `/jobs/${id}/logs`],
      ['GET', (id) => `/jobs/${id}/events`],
      ['PATCH', (id) => `/jobs/${id}`, () => change],
      ['DELETE', (id) => `/jobs/${id}`],
      ['PUT', (id) => `/jobs/${id}/cancel`],
      ['PUT', () => '/jobs', (id) => [{ id, ...change }]],
      [
        'PUT',
        () => '/jobs',
        (id) => [
          { id: shown, ...change },
          { id, ...change },
        ],
      ],
      ['PUT', () => '/jobs', (id) => [{ id, queue: 'mail' }]],
      ['PUT', () => '/jobs/cancel', (id) => ({ ids: [id] })],
      ['POST', () => '/jobs', (id) => job({ queue: 'mail', after: { parents: [id] } })],
    ];
    for (const [method, path, json] of requests) {
      const answers = await Promise.all(
        [hidden, randomUUID()].map(async (id) => {
          const body = json && { json: json(id) };
          const answer = await api.call(method, `/api/v1${path(id)}`, { token, ...body });
          return [answer.status, answer.text.replaceAll(id, 'ID')];
        }),
      );
      expect(answers[0], `${method} ${path('ID')}`).to.deep.equal(answers[1]);
      expect(answers[0]?.[0], `${method} ${path('ID')}`).to.be.within(400, 499);
    }
  });

  it('has ids of recurring jobs for itself, and takes none from code or from other keys', async () => {
    const reports = await api.makeKey({ scopes: ['read', 'write', 'operate'], queues: ['reports'] });
    const post = async (by: string, id: string, queue: string) => {
      const json = { id, queue, name: 'test', args: { waitMs: 1 }, cron: '@daily' };
      return api.call('POST', '/api/v1/recurring-jobs', { token: by, json });
    };
    for (const id of ['nightly', 'nightly@reports', 'nightly@'])
      expect((await post(token, id, 'mail')).status, id).to.equal(422);
    expect((await post(token, 'nightly', 'mail')).text).to.contain('such as \\"nightly@mail\\"');
    const statuses = [
      (await post(token, 'nightly@mail', 'mail')).status,
      (await post(reports.token, 'nightly@reports', 'reports')).status,
      (await post(adminKey, 'nightly', 'mail')).status,
      (await post(token, 'nightly@mail', 'mail')).status,
    ];
    expect(statuses).to.deep.equal([201, 201, 201, 409]);
    const { headers } = await api.call('PUT', '/api/v1/recurring-jobs/nightly@mail/trigger', {
      token,
      headers: { prefer: 'respond-async' },
    });
    const { text } = await api.call('GET', new URL(headers['location'] ?? '').pathname, { token });
    expect(JSON.parse(text)).to.include({ recurringJobId: 'nightly@mail' });
    expect(await ids('/jobs?recurringJobId=nightly@mail')).to.have.lengthOf(1);
  });

  it('has access to nothing else', async () => {
    expect(await status('GET', '/servers')).to.equal(403);
    expect((await api.call('POST', '/test', { token })).status).to.equal(403);
  });

  it('cannot create keys, whatever its scopes', async () => {
    const admin = await api.makeKey({ scopes: ['admin'], queues: ['mail'] });
    expect((await api.call('GET', '/api/v1/api-keys', { token: admin.token })).status).to.equal(403);
  });
});

describe('A key for certain queues, beside a server', () => {
  let api: RunningApi;
  // The server resolves dependencies, but takes no jobs from the queues of the test.
  before(async () => (api = await runApi({ API_EMBEDDED_SERVER: 'true', WORKER_QUEUES: 'elsewhere' })));
  after(() => api.stop());

  it('restores no dependents that it cannot see, however it retries their parent', async () => {
    const { token } = await api.makeKey({ scopes: ['read', 'write', 'operate'], queues: ['mail'] });
    const enqueue = async (fields: object): Promise<string> => {
      const json = { name: 'test', args: { waitMs: 1 }, ...fields };
      const made = await api.call('POST', '/api/v1/jobs', { token: adminKey, json });
      return (made.json() as { id: string }).id;
    };
    const parent = await enqueue({ queue: 'mail' });
    const child = await enqueue({ queue: 'reports', after: { parents: [parent] } });
    const stateOf = async (id: string) =>
      ((await api.call('GET', `/api/v1/jobs/${id}`, { token: adminKey })).json() as { state: string }).state;
    const skipped = async () => {
      await api.call('PUT', `/api/v1/jobs/${parent}/cancel`, { token });
      await eventually(
        () => stateOf(child),
        (state) => state === 'cancelled',
      );
    };
    for (const [path, json] of [
      [`/jobs/${parent}/retry`, { dependents: true }],
      ['/jobs/retry', { ids: [parent], dependents: true }],
    ] as const) {
      await skipped();
      expect((await api.call('PUT', `/api/v1${path}`, { token, json })).status, path).to.equal(200);
      expect([await stateOf(parent), await stateOf(child)], path).to.deep.equal(['enqueued', 'cancelled']);
    }
    await skipped();
    await api.call('PUT', `/api/v1/jobs/${parent}/retry`, { token: adminKey, json: { dependents: true } });
    expect(await stateOf(child)).to.equal('awaiting');
  });
});
