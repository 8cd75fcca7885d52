import { JobClient, JobEvents, type JobState, MemoryStorage } from '@longshore/jobs';
import { jobStates, type ServerRegistration } from '@longshore/jobs/storage';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { jobsApi } from '../src/index.js';
import { type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

const storage = new MemoryStorage();
const [jobs] = jobsApi({
  storage,
  client: new JobClient(storage),
  events: new JobEvents(storage),
  definitions: [],
});
/** All but the one that needs a job with steps, for which see job-steps.test.ts. */
const operations = [...(jobs?.operations.values() ?? [])].filter(({ verb }) => verb !== 'rerun-from');

onEachStorage('An operation on a job', (api) => {
  const servers: ServerRegistration[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.unregister();
  });

  const enqueued = (body: object = {}): Promise<ItemBody> => api.enqueue(api.newName(), body);

  const scheduled = (): Promise<ItemBody> => enqueued({ runAt: '2100-01-01T00:00:00Z' });

  /** Enqueues a job and waits until a server has run it. */
  const run = async (job: { readonly name: string; readonly args?: object }): Promise<ItemBody> => {
    const queue = api.newName();
    const { item } = await api.post('/jobs', { ...job, queue });
    await api.withServer(queue, async () => {
      await eventually(
        async () => (await api.get(`/jobs/${item.id}`)).item['state'],
        (state) => state === 'done' || state === 'failed',
      );
    });
    return item;
  };

  const makers: Readonly<Record<JobState, () => Promise<ItemBody>>> = {
    awaiting: async () => enqueued({ after: { parents: [(await scheduled()).id] } }),
    scheduled,
    enqueued,
    processing: async () => {
      const queue = api.newName();
      const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: 3_600_000 };
      const server = await api.storage.servers.register(description);
      servers.push(server);
      const job = await api.enqueue(queue);
      await api.storage.claims.claim({ serverId: server.id, queue, limit: 1, leaseMs: 3_600_000 });
      return job;
    },
    done: () => run({ name: 'add', args: { a: 1, b: 2 } }),
    failed: () => run({ name: 'fail' }),
    cancelled: async () => {
      const job = await enqueued();
      await api.put(`/jobs/${job.id}/cancel`);
      return job;
    },
  };

  const bodies: Readonly<Record<string, object>> = {
    reschedule: { runAt: '2100-01-02T00:00:00.000Z' },
    rename: { toName: 'fail' },
    signal: { name: 'packed' },
  };

  for (const { verb, states } of operations) {
    for (const state of jobStates) {
      const effect = states?.unchanged.includes(state)
        ? 'leaves'
        : states?.from.includes(state)
          ? 'changes'
          : 'refuses';
      it(`\`${verb}\` ${effect} a job in the state ${state}, as the reference says`, async () => {
        const { id } = await makers[state]();
        const { item } = await api.get(`/jobs/${id}`);
        expect(item['state']).to.equal(state);
        const answer = await api.put(`/jobs/${id}/${verb}`, bodies[verb]);
        if (effect === 'refuses') expect(answer.codes).to.deep.equal([40902]);
        else if (effect === 'leaves') expect(answer.item).to.deep.equal(item);
        // A running job is cancelled later, by its server.
        else if (states?.to.includes(state) === true) expect(answer.item['state']).to.equal(state);
        else expect(answer.item['state']).to.equal(state === 'processing' ? state : states?.to[0]);
      });
    }
  }

  it('answers 202 to a request to cancel a running job, which then shows it until it has ended', async () => {
    const { id } = await makers.processing();
    const answer = await api.put(`/jobs/${id}/cancel`, { reason: 'wrong address' });
    expect(answer.status).to.equal(202);
    expect(answer.item).to.include({ state: 'processing', cancelReason: 'wrong address' });
    expect(answer.item['cancelRequestedAt']).to.match(/^\d{4}-.*Z$/);
    expect((await api.get(`/jobs/${id}`)).item).to.deep.equal(answer.item);
    expect((await api.put(`/jobs/${id}/cancel`)).status, 'again').to.equal(202);
  });

  it('answers 200 when it has cancelled a job that was not running', async () => {
    for (const state of ['enqueued', 'scheduled', 'awaiting', 'cancelled'] as const) {
      const { id } = await makers[state]();
      expect((await api.put(`/jobs/${id}/cancel`)).status, state).to.equal(200);
    }
  });

  it('moves the due time of a scheduled job with `reschedule`', async () => {
    const { id } = await makers.scheduled();
    const answer = await api.put(`/jobs/${id}/reschedule`, { runAt: '2100-01-02T00:00:00.000Z' });
    expect(answer.item['runAt']).to.equal('2100-01-02T00:00:00.000Z');
    expect((await api.put(`/jobs/${id}/reschedule`)).codes, 'without a time').to.deep.equal([42201]);
  });
});
