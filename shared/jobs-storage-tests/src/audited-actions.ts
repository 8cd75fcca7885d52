import { expect } from 'chai';
import { it } from 'mocha';
import type { JobStorage } from '@longshore/jobs';
import {
  type ActionOptions,
  type AuditEntry,
  newId,
  type NewAuditEntry,
  notPaused,
} from '@longshore/jobs/storage';
import { resolveAll } from './dependent-job.js';
import { RecurringFixture } from './recurring-fixture.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

/** An operator's action on one object, such as a job or a queue. The first call to `act` changes the object. */
interface Action {
  readonly act: (options: ActionOptions<unknown>) => Promise<unknown>;
  /** Reads the object, so that tests can check whether the action changed it. */
  readonly read: () => Promise<unknown>;
}

/** Defines tests that check that an action and its audit entry are stored together or not at all. */
export function auditingActions(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  async function onJob(act: (storage: JobStorage, id: string) => Action['act']): Promise<Action> {
    const { id } = await fixture.enqueue(fixture.newQueue(), { due: { inMs: yearMs } });
    return { act: act(fixture.storage, id), read: () => fixture.storage.jobs.find(id) };
  }

  async function onFinished(act: (storage: JobStorage, id: string) => Action['act']): Promise<Action> {
    const { id } = await fixture.enqueue(fixture.newQueue());
    await fixture.storage.control.cancel(id);
    return { act: act(fixture.storage, id), read: () => fixture.storage.jobs.find(id) };
  }

  async function onQueue(act: (storage: JobStorage, name: string) => Action['act']): Promise<Action> {
    const name = fixture.newQueue();
    await fixture.storage.queues.limit(name, { concurrencyLimit: 5 });
    return { act: act(fixture.storage, name), read: () => fixture.storage.queues.find(name) };
  }

  async function onServer(act: (storage: JobStorage, id: string) => Action['act']): Promise<Action> {
    const { id } = await fixture.register(fixture.newQueue());
    const read = async (): Promise<unknown> =>
      (await fixture.storage.servers.list()).find((server) => server.id === id)?.requested;
    return { act: act(fixture.storage, id), read };
  }

  async function onRecurring(act: (storage: JobStorage, id: string) => Action['act']): Promise<Action> {
    const { id, queue } = await recurring.add();
    const read = async (): Promise<unknown> => [await recurring.find(id), await fixture.jobsOf(queue)];
    return { act: act(fixture.storage, id), read };
  }

  async function onBulk(act: (storage: JobStorage, id: string) => Action['act']): Promise<Action> {
    const filter = { queue: [fixture.newQueue()] };
    const { id } = await fixture.storage.bulk.start({ action: 'cancel', filter });
    return { act: act(fixture.storage, id), read: () => fixture.storage.bulk.find(id) };
  }

  const actions: Readonly<Record<string, () => Promise<Action>>> = {
    'enqueueing a job': async () => {
      const queue = fixture.newQueue();
      await fixture.storage.queues.limit(queue, { concurrencyLimit: 5 });
      return {
        act: (options) => fixture.storage.enqueuer.enqueueAudited(newJob(queue), options),
        read: () => fixture.jobsOf(queue),
      };
    },
    'cancelling a job': () =>
      onJob(
        ({ control }, id) =>
          (options) =>
            control.cancel(id, options),
      ),
    'running a job': () =>
      onJob(
        ({ control }, id) =>
          (options) =>
            control.run(id, options),
      ),
    'rescheduling a job': () =>
      onJob(
        ({ control }, id) =>
          (options) =>
            control.reschedule(id, new Date('2090-01-01T00:00:00Z'), options),
      ),
    'retrying a job': () =>
      onFinished(
        ({ control }, id) =>
          (options) =>
            control.retry(id, options),
      ),
    'deleting a job': () =>
      onFinished(
        ({ control }, id) =>
          (options) =>
            control.delete(id, options),
      ),
    'pausing a queue': () =>
      onQueue(
        ({ queues }, name) =>
          (options) =>
            queues.pause(name, options),
      ),
    'resuming a queue': async () => {
      const name = fixture.newQueue();
      await fixture.storage.queues.pause(name);
      return {
        act: (options) => fixture.storage.queues.resume(name, options),
        read: () => fixture.storage.queues.find(name),
      };
    },
    'limiting a queue': () =>
      onQueue(
        ({ queues }, name) =>
          (options) =>
            queues.limit(name, { concurrencyLimit: 7 }, options),
      ),
    'limiting a key': async () => {
      const name = fixture.newQueue();
      const meta = { concurrencyKey: 'a', concurrencyLimit: 1 };
      const jobs = [newJob(name), newJob(name)].map((job) => ({ ...job, meta }));
      await fixture.storage.enqueuer.enqueue(jobs);
      await resolveAll(fixture.storage);
      return {
        act: (options) => fixture.storage.queues.limitKey(name, 'a', 2, options),
        read: async () => {
          const listed = await fixture.storage.jobs.list({ filter: { queue: [name] }, limit: 10 });
          return listed.map(({ concurrencyLimit }) => concurrencyLimit);
        },
      };
    },
    'deleting a queue': () =>
      onQueue(
        ({ queues }, name) =>
          (options) =>
            queues.delete(name, options),
      ),
    'quieting a server': () =>
      onServer(
        ({ servers }, id) =>
          (options) =>
            servers.quiet(id, options),
      ),
    'stopping a server': () =>
      onServer(
        ({ servers }, id) =>
          (options) =>
            servers.stop(id, options),
      ),
    'triggering a recurring job': () =>
      onRecurring(
        ({ recurring: role }, id) =>
          (options) =>
            role.trigger(id, options),
      ),
    'pausing a recurring job': () =>
      onRecurring(
        ({ recurring: role }, id) =>
          (options) =>
            role.pause(id, options),
      ),
    'resuming a recurring job': async () => {
      const { id } = await recurring.add();
      await fixture.storage.recurring.pause(id);
      return {
        act: (options) => fixture.storage.recurring.resume(id, options),
        read: () => recurring.find(id),
      };
    },
    'removing a recurring job': () =>
      onRecurring(
        ({ recurring: role }, id) =>
          (options) =>
            role.remove(id, options),
      ),
    'removing several recurring jobs': () =>
      onRecurring(
        ({ recurring: role }, id) =>
          (options) =>
            role.removeAll([id], options),
      ),
    'deleting a deployment': async () => {
      const { deployments } = fixture.storage;
      const { id } = await deployments.record({ version: fixture.newQueue() });
      return { act: (options) => deployments.delete(id, options), read: () => deployments.find(id) };
    },
    'stopping a bulk operation': () =>
      onBulk(
        ({ bulk }, id) =>
          (options) =>
            bulk.cancel(id, options),
      ),
    'starting a bulk operation': async () => {
      const filter = { queue: [fixture.newQueue()] };
      const { bulk } = fixture.storage;
      return {
        act: (options) => bulk.start({ action: 'cancel', filter }, options),
        read: async () => (await bulk.list({ limit: 1 }))[0],
      };
    },
    'cancelling a batch': async () => {
      const queue = fixture.newQueue();
      const id = newId();
      const jobs = [1, 2].map(() => ({ ...newJob(queue), meta: { batchId: id } }));
      await fixture.storage.enqueuer.enqueueBatch({ id, name: null, jobs, callback: null });
      return {
        act: (options) => fixture.storage.batches.cancel(id, options),
        read: async () => (await fixture.jobsOf(queue)).map(({ state }) => state),
      };
    },
  };

  const entry = (target: string): NewAuditEntry => ({
    who: 'ada',
    action: 'test',
    target,
    filter: null,
    count: 1,
  });
  const entriesOf = (target: string): Promise<AuditEntry[]> =>
    fixture.storage.audit.list({ limit: 10, target });

  for (const [name, prepare] of Object.entries(actions)) {
    it(`stores the audit entry of ${name}`, async () => {
      const { act } = await prepare();
      const target = newId();
      await act({ audit: () => entry(target) });
      expect(await entriesOf(target)).to.have.lengthOf(1);
    });

    it(`changes nothing by ${name} if the audit entry cannot be stored`, async () => {
      const { act, read } = await prepare();
      const before = await read();
      const target = newId();
      const unstorable = { ...entry(target), filter: 1n as unknown as null };
      const error: unknown = await act({ audit: () => unstorable }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TypeError);
      expect([await read(), await entriesOf(target)]).to.deep.equal([before, []]);
    });
  }

  it('gives the audit the job as it was before the action', async () => {
    const { id } = await fixture.enqueue(fixture.newQueue(), { due: { inMs: yearMs } });
    const before = await fixture.storage.jobs.find(id);
    const results: unknown[] = [];
    const audit = (result: unknown): NewAuditEntry => {
      results.push(result);
      return entry(id);
    };
    await fixture.storage.control.run(id, { audit });
    await fixture.storage.control.run(id, { audit });
    await fixture.storage.control.retry(id, { audit });
    const after = await fixture.storage.jobs.find(id);
    expect(results).to.deep.equal([
      { outcome: 'ok', job: before, changed: true, restored: 0 },
      { outcome: 'ok', job: after, changed: false, restored: 0 },
      { outcome: 'ok', job: after, changed: false, restored: 0 },
    ]);
    expect(await entriesOf(id)).to.have.lengthOf(3);
  });

  it('gives the audit the settings of a queue before the action', async () => {
    const name = fixture.newQueue();
    const results: unknown[] = [];
    const audit = (result: unknown): NewAuditEntry => {
      results.push(result);
      return entry(name);
    };
    const none = { ...notPaused, concurrencyLimit: null, rateLimit: null };
    await fixture.storage.queues.limit(name, { concurrencyLimit: 3 }, { audit });
    const seen = { ...none, concurrencyLimit: 3 };
    await fixture.storage.queues.pause(name, { audit, seen });
    await fixture.storage.queues.pause(name, { audit, seen });
    expect(results).to.deep.equal([none, seen, null]);
  });

  it('stores an audit entry of an action on something that does not exist', async () => {
    const { storage } = fixture;
    const target = newId();
    const audit = (result: unknown): NewAuditEntry => ({
      ...entry(target),
      filter: JSON.parse(JSON.stringify(result)) as null,
    });
    await storage.control.cancel(newId(), { audit });
    await storage.servers.stop('none', { audit });
    await storage.batches.cancel(newId(), { audit });
    await storage.recurring.trigger('none', { audit });
    await storage.recurring.pause('none', { audit });
    await storage.recurring.remove('none', { audit });
    await storage.deployments.delete(newId(), { audit });
    await storage.bulk.cancel('none', { audit });
    await storage.setAside.discard('none', { audit });
    await storage.queues.delete(fixture.newQueue(), { audit });
    const unknown = { outcome: 'unknown' };
    expect((await entriesOf(target)).map(({ filter }) => filter)).to.deep.equal([
      'unknown',
      null,
      null,
      false,
      false,
      null,
      null,
      unknown,
      unknown,
      unknown,
    ]);
  });
}
