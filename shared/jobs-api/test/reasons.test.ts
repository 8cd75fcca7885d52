import { defineJob, handleJob, JobClient, JobEvents, JobServer, MemoryStorage } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import type { Resource } from '@longshore/resources';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { jobsApi } from '../src/index.js';
import { add, type Answer, type ItemBody, JobsApiUnderTest } from './support/jobs-api-under-test.js';

/**
 * Every call that takes a reason, by the definitions of the resources: operations on items, on sets of items, and deletions.
 * A call without a target to try it on, below, fails.
 */
describe('The reason of a call', () => {
  const storage = new MemoryStorage();
  const api = new JobsApiUnderTest(async () => ({ storage, close: () => storage.close() }), {});
  const later = '2100-01-01T00:00:00Z';

  const enqueued = async (body: object = { runAt: later }): Promise<string> =>
    (await api.enqueue(api.newName(), body)).id;
  const finished = async (): Promise<string> => {
    const id = await enqueued();
    await api.put(`/jobs/${id}/cancel`);
    return id;
  };
  const queue = async (): Promise<string> =>
    String((await api.get(`/jobs/${await finished()}`)).item['queue']);

  /** A queue with jobs that wait for their key. */
  const queueWithKey = async (): Promise<string> => {
    const name = api.newName();
    const meta = { concurrencyKey: 'tenant-7', concurrencyLimit: 1 };
    const job = { name: 'work', queue: name, priority: 0, args: '{}', maxAttempts: 1, due: null, meta };
    await storage.enqueuer.enqueue([
      { ...job, id: newId() },
      { ...job, id: newId() },
    ]);
    return name;
  };

  /** Runs a job until it sleeps after its step `charge`. */
  const withStep = async (): Promise<string> => {
    const sleeper = defineJob({ name: api.newName() });
    const handler = handleJob(sleeper, async ({ step, sleep }) => {
      await step('charge', () => 7);
      await sleep('cool-off', { ms: 86_400_000 });
    });
    const { id } = await new JobClient(storage).enqueue(sleeper, {});
    const worker = new JobServer({ storage, handlers: [handler] });
    await worker.start();
    await eventually(
      async () => (await storage.jobs.find(id))?.state,
      (state) => state === 'scheduled',
    );
    await worker.stop();
    return id;
  };

  /** Makes something of a kind, and returns its key. */
  const targets: Readonly<Record<string, () => Promise<string>>> = {
    jobs: enqueued,
    queues: async () => {
      const name = api.newName();
      await api.enqueue(name, { runAt: later });
      return name;
    },
    servers: async () => {
      const description = {
        host: 'x',
        pid: 1,
        queues: [api.newName()],
        concurrency: 1,
        timeoutMs: 3_600_000,
      };
      return (await storage.servers.register(description)).id;
    },
    'recurring-jobs': async () => {
      const body = { id: api.newName(), name: 'add', args: { a: 1, b: 2 }, cron: '0 0 1 1 *' };
      return (await api.post('/recurring-jobs', body)).item.id;
    },
    batches: async () =>
      (await api.post('/batches', { jobs: [{ name: 'add', args: { a: 1, b: 2 }, runAt: later }] })).item.id,
    'job-types': async () => add.name,
    deployments: async () => (await api.post('/deployments', { version: api.newName() })).item.id,
    'set-aside-items': async () => {
      const key = api.newName();
      storage.setAside.add({ role: 'scheduler', key, queue: 'mail' }, new Error('odd'));
      return (await storage.setAside.list({ limit: 1 }))[0]?.id ?? '';
    },
    incidents: async () => {
      const key = api.newName();
      const warning = { kind: 'queue-lags', key, subject: key, text: 'Odd.', advice: 'Mend it.', link: '' };
      await storage.incidents.observe([
        { ...warning, beganAt: null, isMeasured: false, isRecovering: false },
      ]);
      return (await storage.incidents.list({ limit: 1 }))[0]?.id ?? '';
    },
    installations: async () => (await storage.installation.read()).name,
    'bulk-operations': async () => {
      const body = { ids: [await enqueued()], delayMs: 60_000 };
      return (await api.put('/jobs/cancel', body)).item.id;
    },
  };
  /** Other targets of single calls, because their states have to allow them. */
  const ofCall: Readonly<Record<string, () => Promise<string>>> = {
    'jobs delete': finished,
    'jobs retry': finished,
    'jobs rerun-from': withStep,
    'queues delete': queue,
    'queues limit-key': queueWithKey,
  };
  /** Fields that a call requires beside the reason. */
  const fields: Readonly<Record<string, object>> = {
    reschedule: { runAt: later },
    rename: { toName: 'fail' },
    signal: { name: 'packed' },
    mute: { until: new Date(Date.now() + 3_600_000).toISOString() },
    'rerun-from': { step: 'charge' },
    'limit-key': { concurrencyKey: 'tenant-7', limit: 2 },
  };

  before(() => api.start());
  after(() => api.stop());

  const key = (resource: Resource, call: string): Promise<string> =>
    (ofCall[`${resource.name} ${call}`] ?? targets[resource.name] ?? expect.fail(`no ${resource.name}`))();

  /** Expects that the audit shows the reason of a call, and that the call was carried out. */
  const isRead = async (call: (reason: string) => Promise<Answer>): Promise<void> => {
    const reason = `because of ${api.newName()}`;
    const { status, text } = await call(reason);
    expect(status, text).to.be.within(200, 204);
    const { items } = await api.get('/audit-entries?limit=1000');
    expect(items.filter((entry: ItemBody) => entry['reason'] === reason)).to.have.length.above(0);
  };

  const described = jobsApi({
    storage,
    client: new JobClient(storage),
    events: new JobEvents(storage),
    definitions: [add],
  });
  for (const resource of described) {
    const { name, operations, setOperations, deletionReason } = resource;
    for (const { verb, body } of operations.values())
      it(`is shown by the audit after PUT /${name}/{id}/${verb}`, async () => {
        expect(body?.properties).to.have.property('reason');
        const id = await key(resource, verb);
        await isRead((reason) => api.put(`/${name}/${id}/${verb}`, { ...fields[verb], reason }));
      });
    for (const { verb, selectedBy } of setOperations.values()) {
      if (selectedBy !== undefined) continue; // see job-steps.test.ts
      it(`is shown by the audit and the bulk operation after PUT /${name}/${verb}`, async () => {
        const ids = [await key(resource, verb)];
        await isRead(async (reason) => {
          const answer = await api.put(`/${name}/${verb}`, { ids, ...fields[verb], reason });
          expect((await api.get(`/bulk-operations/${answer.item.id}`)).item).to.include({ reason });
          return answer;
        });
      });
    }
    if (deletionReason !== undefined)
      it(`is shown by the audit after DELETE /${name}/{id}`, async () => {
        const id = await key(resource, 'delete');
        await isRead((reason) => api.delete(`/${name}/${id}?reason=${encodeURIComponent(reason)}`));
      });
  }

  it('is shown by the audit after a deletion of many', async () => {
    const [of, other] = [await queue(), await targets['recurring-jobs']?.()];
    await isRead((reason) => api.delete(`/jobs?queue=${of}&reason=${encodeURIComponent(reason)}`));
    const { name } = (await api.get(`/recurring-jobs/${String(other)}`)).item;
    await isRead((reason) =>
      api.delete(`/recurring-jobs?name=${String(name)}&reason=${encodeURIComponent(reason)}`),
    );
  });

  it('is shown by the audit even if the call is refused', async () => {
    const reason = `because of ${api.newName()}`;
    expect((await api.put(`/jobs/${await enqueued()}/retry`, { reason })).codes).to.deep.equal([40902]);
    const { items } = await api.get('/audit-entries?limit=1000');
    expect(items.filter((entry) => entry['reason'] === reason).map(({ outcome }) => outcome)).to.deep.equal([
      'refused',
    ]);
  });
});
