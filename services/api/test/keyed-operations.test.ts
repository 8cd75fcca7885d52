import { defineJob, JobClient } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { createTestDatabase, eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey, type RunningApi, runApi } from './support/running-api.js';

const work = defineJob({ name: 'work' });
const later = { runAt: new Date('2100-01-01') };
const cron = '0 0 1 1 *';

/** The bodies of the operations on many jobs, by verb. */
const setBodies: Readonly<Record<string, object>> = {
  cancel: {},
  retry: {},
  run: {},
  reschedule: { runAt: '2100-01-02T00:00:00Z' },
  rename: { toName: 'renamed' },
  delete: {},
};

/** Matches the paths of the example application's operations. The tests of `@longshore/resources` cover these. */
const applicationPath = /^\/(customers|orders|cancellations|cars|tickets)\//;

/** An operation to call, and a query for checking its effect. */
interface Operated {
  readonly path: string;
  readonly body?: object;
  /** A query for a single row that the operation changes. */
  readonly effect: string;
  /** The status of the response; 200 by default. */
  readonly status?: number;
}

const stateOf = (id: string): string => `
  select state from (
    select id, case when server_id is null then 'enqueued' else 'processing' end as state from longshore.job
    union all select id, 'scheduled' from longshore.job_scheduled
    union all select id, state::text from longshore.job_history) as job
  where id = '${id}'`;

const signalsOf = (id: string): string =>
  `select count(*)::integer as signals from longshore.job_signal where job_id = '${id}'`;

const pausedTypes = 'select count(*)::integer as paused from longshore.paused_type';

const pausedOf = (table: 'queue' | 'recurring_job', column: string, id: string): string =>
  `select paused_at is not null as paused from longshore.${table} where ${column} = '${id}'`;

describe('An operation with an Idempotency-Key, whose response cannot be stored', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let api: RunningApi;
  let operations: Record<string, Operated>;
  let leave: () => Promise<void>;

  const operate = async ({ path, body }: Operated, key: string): Promise<number> =>
    (
      await api.call('PUT', `/api/v1${path}`, {
        token: adminKey,
        json: body,
        headers: { 'idempotency-key': key },
      })
    ).status;

  before(async () => {
    database = await createTestDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const client = new JobClient(storage);
    const job = async (options: object = later): Promise<string> =>
      (await client.enqueue(work, {}, options)).id;
    const cancelled = await job();
    await storage.control.cancel(cancelled);
    const batch = await client.enqueueBatch({
      jobs: [{ definition: work, args: {}, options: { ...later, queue: 'batches' } }],
    });
    const [ofBatch] = await storage.jobs.list({ filter: { queue: ['batches'] }, limit: 1 });
    const concurrency = { key: 'tenant-7', limit: 1 };
    for (const queue of ['keyed', 'keyed']) await job({ queue, concurrency });
    const purged = await job({ queue: 'purged' });
    for (const id of ['triggered', 'running', 'paused'])
      await client.recurring.addOrUpdate({ id, definition: work, args: {}, cron });
    await storage.recurring.pause('paused');
    await storage.queues.pause('still');
    await storage.queues.pause('moving');
    await storage.queues.resume('moving');
    const description = { host: 'here', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
    const servers = [
      await storage.servers.register(description),
      await storage.servers.register(description),
    ];
    leave = async () => void (await Promise.all(servers.map((server) => server.unregister())));
    const [first, second] = servers.map(({ id }) => id);
    const requestOf = (id: string | undefined): string =>
      `select requested from longshore.server where id = '${id}'`;
    const [toSignal, toRerun] = [await job(), await job()];
    const correlated = await job({ ...later, correlate: 'order:7' });
    await database.query(`
      insert into longshore.job_step (queue_id, job_id, name, kind, state, position, is_remembered, attempts, job_attempt, server_id, started_at)
      select queue_id, id, 'first', 'step', 'done', 1, true, 1, 1, id, now() from longshore.job_scheduled where id = '${toRerun}'`);
    const [toCancel, toRun, toReschedule, toRename] = [
      await job(),
      await job(),
      await job(later),
      await job(later),
    ];
    await database.query(`
      insert into longshore.set_aside (role, key, job_id, error)
      values ('bulk', 'cancel ${cancelled}', '${cancelled}', '{"name": "Error", "message": "odd", "stack": null}')`);
    const [aside] = await storage.setAside.list({ limit: 1 });
    await storage.incidents.observe(
      ['first', 'second', 'third'].map((key) => ({
        kind: 'queue-paused',
        key,
        subject: key,
        text: 'It is wrong.',
        advice: 'Mend it.',
        link: '',
        beganAt: null,
        isMeasured: false,
        isRecovering: false,
      })),
    );
    const [toUnmute, toMute, toAcknowledge] = await storage.incidents.list({ limit: 3 });
    await storage.incidents.mute(toUnmute?.id ?? '', { until: new Date(Date.now() + 3_600_000) });
    const incidentOf = (incident: typeof toMute, column: string): string =>
      `select ${column} from longshore.incident where id = '${incident?.id}'`;
    for (const verb of Object.keys(setBodies)) {
      const id = await job({ ...later, queue: `set-${verb}` });
      if (verb === 'retry' || verb === 'delete') await storage.control.cancel(id);
    }
    const pending = await storage.bulk.start({
      action: 'delete',
      filter: { name: ['none'] },
      delayMs: 3_600_000,
    });
    await storage.installation.pauseCopy();
    operations = {
      '/jobs/{jobId}/cancel': { path: `/jobs/${toCancel}/cancel`, effect: stateOf(toCancel) },
      '/jobs/{jobId}/retry': { path: `/jobs/${cancelled}/retry`, effect: stateOf(cancelled) },
      '/jobs/{jobId}/run': { path: `/jobs/${toRun}/run`, effect: stateOf(toRun) },
      '/jobs/{jobId}/reschedule': {
        path: `/jobs/${toReschedule}/reschedule`,
        body: { runAt: '2100-01-02T00:00:00Z' },
        effect: `select run_at from longshore.job_scheduled where id = '${toReschedule}'`,
      },
      '/jobs/{jobId}/rename': {
        path: `/jobs/${toRename}/rename`,
        body: { toName: 'renamed' },
        effect: `select name from longshore.job_scheduled where id = '${toRename}'`,
      },
      '/jobs/{jobId}/signal': {
        path: `/jobs/${toSignal}/signal`,
        body: { name: 'packed' },
        effect: signalsOf(toSignal),
      },
      '/jobs/signal': {
        path: '/jobs/signal',
        body: { correlate: 'order:7', name: 'packed' },
        effect: signalsOf(correlated),
      },
      '/jobs/{jobId}/rerun-from': {
        path: `/jobs/${toRerun}/rerun-from`,
        body: { step: 'first' },
        effect: stateOf(toRerun),
      },
      '/queues/{queueName}/pause': {
        path: '/queues/moving/pause',
        effect: pausedOf('queue', 'name', 'moving'),
      },
      '/queues/{queueName}/resume': {
        path: '/queues/still/resume',
        effect: pausedOf('queue', 'name', 'still'),
      },
      '/queues/{queueName}/limit-key': {
        path: '/queues/keyed/limit-key',
        body: { concurrencyKey: 'tenant-7', limit: 3 },
        effect: `select max((meta ->> 'concurrencyLimit')::integer) as most from (
          select meta from longshore.job union all select meta from longshore.job_blocked) as live`,
      },
      '/queues/{queueName}/purge': { path: '/queues/purged/purge', effect: stateOf(purged) },
      '/job-types/{jobTypeName}/pause': { path: '/job-types/test/pause', effect: pausedTypes },
      '/job-types/{jobTypeName}/resume': { path: '/job-types/test/resume', effect: pausedTypes },
      '/servers/{serverId}/quiet': { path: `/servers/${first}/quiet`, effect: requestOf(first) },
      '/servers/{serverId}/stop': { path: `/servers/${second}/stop`, effect: requestOf(second) },
      '/recurring-jobs/{recurringJobId}/trigger': {
        path: '/recurring-jobs/triggered/trigger',
        effect: `select count(*)::integer as jobs from longshore.job where meta ->> 'recurringJobId' = 'triggered'`,
      },
      '/recurring-jobs/{recurringJobId}/pause': {
        path: '/recurring-jobs/running/pause',
        effect: pausedOf('recurring_job', 'id', 'running'),
      },
      '/recurring-jobs/{recurringJobId}/resume': {
        path: '/recurring-jobs/paused/resume',
        effect: pausedOf('recurring_job', 'id', 'paused'),
      },
      '/set-aside-items/{setAsideItemId}/retry': {
        path: `/set-aside-items/${aside?.id}/retry`,
        effect: 'select count(*)::integer as items from longshore.set_aside',
      },
      '/incidents/{incidentId}/acknowledge': {
        path: `/incidents/${toAcknowledge?.id}/acknowledge`,
        effect: incidentOf(toAcknowledge, 'acknowledged_at'),
      },
      '/incidents/{incidentId}/mute': {
        path: `/incidents/${toMute?.id}/mute`,
        body: { until: new Date(Date.now() + 3_600_000).toISOString() },
        effect: incidentOf(toMute, 'muted_until'),
      },
      '/incidents/{incidentId}/unmute': {
        path: `/incidents/${toUnmute?.id}/unmute`,
        effect: incidentOf(toUnmute, 'muted_until'),
      },
      '/installations/{installationName}/resume': {
        path: '/installations/longshore/resume',
        effect: 'select paused_at from longshore.installation',
      },
      '/bulk-operations/{bulkOperationId}/stop': {
        path: `/bulk-operations/${pending.id}/stop`,
        effect: `select state::text from longshore.bulk_operation where id = '${pending.id}'`,
      },
      ...Object.fromEntries(
        Object.entries(setBodies).map(([verb, body]) => [
          `/jobs/${verb}`,
          {
            path: `/jobs/${verb}?queue=set-${verb}`,
            status: 202,
            body,
            effect: `select count(*)::integer as operations from longshore.bulk_operation where action = '${verb}'`,
          },
        ]),
      ),
      '/batches/{batchId}/cancel': {
        path: `/batches/${batch.id}/cancel`,
        effect: stateOf(ofBatch?.id ?? ''),
      },
    };
    api = await runApi({ API_STORAGE: 'postgres', DATABASE_URL: database.url });
    await database.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
      create trigger refuse before insert on longshore_api.idempotency_record
      for each row when (new.key like '% unkept') execute function refuse()`);
  });

  after(async () => {
    await api.stop();
    await leave();
    await storage.close();
    await database.drop();
  });

  it('is covered by this test', async () => {
    const document = (await api.call('GET', '/api/v1/openapi.json', { token: adminKey })).json() as {
      paths: Record<string, { put?: { operationId: string } }>;
    };
    const paths = Object.entries(document.paths).filter(
      ([path, { put }]) =>
        put !== undefined && /(?:\}|^\/jobs)\/[a-z-]+$/.test(path) && !applicationPath.test(path),
    );
    expect(paths.map(([path]) => path)).to.have.members(Object.keys(operations));
  });

  it('has no effect, and takes effect when it is repeated', async () => {
    const seen: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [name, operated] of Object.entries(operations)) {
      const effect = async (): Promise<unknown> => (await database.query(operated.effect))[0];
      const before = await effect();
      const refused = await operate(operated, 'unkept');
      const unchanged = await effect();
      const carriedOut = await operate(operated, name.replaceAll(/\W/g, '-'));
      const after = await eventually(async () => {
        const now = await effect();
        return JSON.stringify(now) !== JSON.stringify(before) && now;
      });
      seen[name] = { refused, unchanged, carriedOut, changed: after !== undefined };
      expected[name] = { refused: 500, unchanged: before, carriedOut: operated.status ?? 200, changed: true };
    }
    expect(seen).to.deep.equal(expected);
  });

  it('creates and edits nothing, and does so when it is repeated', async () => {
    const client = new JobClient(storage);
    const { id } = await client.enqueue(work, {}, { ...later, queue: 'edited' });
    const definition = defineJob({ name: 'test' });
    await client.recurring.addOrUpdate({
      id: 'edited',
      definition,
      args: { waitMs: 1 },
      cron,
      queue: 'edited',
    });
    const send = async (method: string, path: string, json: object, key: string): Promise<number> => {
      const headers = { 'idempotency-key': key };
      return (await api.call(method, `/api/v1${path}`, { token: adminKey, json, headers })).status;
    };
    const schedule = { id: 'made', name: 'test', args: { waitMs: 1 }, cron };
    const changes = [
      ['PATCH', `/jobs/${id}`, { tags: ['made'] }, `/jobs/${id}`, 200],
      ['PUT', '/jobs', [{ id, tags: ['made', 'twice'] }], `/jobs/${id}`, 200],
      ['PATCH', '/recurring-jobs/edited', { cron: '0 0 2 1 *' }, '/recurring-jobs/edited', 200],
      ['POST', '/recurring-jobs', schedule, '/recurring-jobs/made', 201],
      ['PATCH', '/queues/edited', { concurrencyLimit: 3 }, '/queues/edited', 200],
      ['POST', '/queues', { name: 'made' }, '/queues/made', 201],
      ['POST', '/deployments', { version: 'made' }, '/deployments?version=made', 201],
    ] as const;
    const seen: unknown[] = [];
    for (const [method, path, json, place] of changes) {
      const shown = async () => (await api.call('GET', `/api/v1${place}`, { token: adminKey })).text;
      const before = await shown();
      const refused = await send(method, path, json, 'unkept');
      const isUnchanged = (await shown()) === before;
      const kept = await send(method, path, json, 'made');
      seen.push([method, path, refused, isUnchanged, kept, (await shown()) !== before]);
    }
    expect(seen).to.deep.equal(
      changes.map(([method, path, , , status]) => [method, path, 500, true, status, true]),
    );
  });

  it('deletes nothing, and deletes it when it is repeated', async () => {
    const client = new JobClient(storage);
    const { id } = await client.enqueue(work, {}, { ...later, queue: 'kept' });
    await storage.control.cancel(id);
    await client.recurring.addOrUpdate({ id: 'unwanted', definition: work, args: {}, cron });
    const others = { definition: work, args: {}, cron, queue: 'unused' };
    await client.recurring.addOrUpdate({ id: 'others', ...others });
    await storage.queues.create('unwanted');
    const deployment = await storage.deployments.record({ version: '1.0.0' });
    const remove = async (path: string, key: string): Promise<number> => {
      const headers = { 'idempotency-key': key };
      return (await api.call('DELETE', `/api/v1${path}`, { token: adminKey, headers })).status;
    };
    const paths = [
      `/jobs/${id}`,
      '/recurring-jobs/unwanted',
      '/recurring-jobs?queue=unused',
      '/queues/unwanted',
      `/deployments/${deployment.id}`,
    ];
    const seen: unknown[] = [];
    for (const path of paths) {
      const refused = await remove(path, 'unkept');
      const { status, text } = await api.call('GET', `/api/v1${path}`, { token: adminKey });
      const isLeft = status === 200 && text !== '[]';
      seen.push([refused, isLeft, await remove(path, 'kept'), await remove(path, 'kept')]);
    }
    expect(seen).to.deep.equal(paths.map(() => [500, true, 204, 204]));
  });

  it('deletes the jobs of a collection once, after the answer', async () => {
    const client = new JobClient(storage);
    const { id } = await client.enqueue(work, {}, { ...later, queue: 'deleted' });
    await storage.control.cancel(id);
    const headers = { 'idempotency-key': 'delete-jobs' };
    const { status } = await api.call('DELETE', '/api/v1/jobs?queue=deleted', { token: adminKey, headers });
    expect(status).to.equal(202);
    await eventually(
      () => storage.jobs.find(id),
      (job) => job === null,
    );
  });
});
