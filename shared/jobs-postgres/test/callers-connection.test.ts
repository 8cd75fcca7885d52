import { AsyncLocalStorage } from 'node:async_hooks';
import { type TestDatabase, eventually, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { defineJob, defineRecurringJob, JobClient, type TransactionClient } from '@longshore/jobs';
import { newId, type NewJob } from '@longshore/jobs/storage';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const hourMs = 3_600_000;
const job = defineJob({ name: 'work', queue: 'known' });

/** What a call with a transaction works on. Everything was committed before the transaction began. */
interface Prepared {
  readonly storage: PostgresStorage;
  readonly client: JobClient;
  readonly waiting: string;
  readonly failed: string;
  readonly scheduled: string;
  readonly cancelled: string;
  readonly batch: string;
  readonly server: string;
  readonly bulk: string;
  readonly item: string;
  readonly incident: string;
}

type Call = (prepared: Prepared, transaction: TransactionClient) => Promise<unknown>;

const audit = (): { who: string; action: string; target: null; filter: null; count: number } => ({
  who: 'ada',
  action: 'test/test',
  target: null,
  filter: null,
  count: 1,
});

const newJob = (queue: string, more: Partial<NewJob> = {}): NewJob => ({
  id: newId(),
  queue,
  name: 'work',
  args: '{}',
  priority: 0,
  maxAttempts: 3,
  due: null,
  ...more,
});

/** Every public call that takes a transaction, by the area and the method of the storage. */
const calls: Readonly<Record<string, Call>> = {
  'enqueuer.enqueue, a new priority': ({ client }, transaction) =>
    client.enqueue(job, {}, { priority: 33, transaction }),
  'enqueuer.enqueue, a queue that the transaction has created': async ({ client }, transaction) => {
    await transaction.query(`select longshore.enqueue('work', queue => 'fresh', priority => 12)`);
    return client.enqueue(job, {}, { queue: 'fresh', priority: 13, transaction });
  },
  'enqueuer.enqueue, a unique key': ({ client }, transaction) =>
    client.enqueue(job, {}, { unique: { key: 'k' }, priority: 5, queue: 'new-1', transaction }),
  'enqueuer.enqueue, an idempotency key': ({ client }, transaction) =>
    client.enqueue(job, {}, { idempotencyKey: 'once', queue: 'new-2', transaction }),
  'enqueuer.enqueue, a concurrency key': ({ client }, transaction) =>
    client.enqueue(job, {}, { concurrency: { key: 'c', limit: 1 }, queue: 'new-3', transaction }),
  'enqueuer.enqueue, parents': ({ client, waiting }, transaction) =>
    client.enqueue(job, {}, { after: { parents: [waiting] }, queue: 'new-4', transaction }),
  'enqueuer.enqueue, a delay': ({ client }, transaction) =>
    client.enqueue(job, {}, { delayMs: hourMs, queue: 'new-5', priority: -7, transaction }),
  'enqueuer.enqueueBatch': ({ storage }, transaction) => {
    const id = newId();
    const jobs = [newJob('new-6', { priority: 9, meta: { batchId: id } })];
    return storage.enqueuer.enqueueBatch({ id, name: null, jobs, callback: null }, transaction);
  },
  'enqueuer.enqueueAudited': ({ storage }, transaction) =>
    storage.enqueuer.enqueueAudited(newJob('new-20', { priority: 8 }), { transaction, audit }),
  'jobs.find': ({ storage, waiting }, transaction) => storage.jobs.find(waiting, transaction),
  'control.cancel': ({ storage, waiting }, transaction) =>
    storage.control.cancel(waiting, { transaction, audit }),
  'control.retry': ({ storage, failed }, transaction) =>
    storage.control.retry(failed, { dependents: true, transaction, audit }),
  'control.retry, with another queue': ({ storage, cancelled }, transaction) =>
    storage.control.retry(cancelled, { content: { queue: 'new-21', priority: 7 }, transaction, audit }),
  'control.run': ({ storage, scheduled }, transaction) =>
    storage.control.run(scheduled, { transaction, audit }),
  'control.reschedule': ({ storage, scheduled }, transaction) =>
    storage.control.reschedule(scheduled, new Date('2100-01-01'), { transaction, audit }),
  'control.rename': ({ storage, scheduled }, transaction) =>
    storage.control.rename(scheduled, 'other', { transaction, audit }),
  'control.delete': ({ storage, cancelled }, transaction) =>
    storage.control.delete(cancelled, { transaction, audit }),
  'control.edit': ({ storage, waiting }, transaction) =>
    storage.control.edit(
      [waiting],
      async () => {
        const content = { queue: 'new-10', priority: -9, args: '{}', runAt: null, tags: ['moved'] };
        return new Map([[waiting, content]]);
      },
      { visibleQueues: ['known', 'new-10'], transaction, audit },
    ),
  'steps.signal': ({ storage, waiting }, transaction) =>
    storage.steps.signal(waiting, { name: 'packed' }, { transaction, audit }),
  'steps.rerunFrom': ({ storage, failed }, transaction) =>
    storage.steps.rerunFrom(failed, 'one', { transaction, audit }),
  'queues.create': ({ storage }, transaction) =>
    storage.queues.create('new-11', { concurrencyLimit: 3 }, { transaction, audit }),
  'queues.find': ({ storage }, transaction) => storage.queues.find('known', transaction),
  'queues.pause': ({ storage }, transaction) =>
    storage.queues.pause('known', { until: new Date(Date.now() + hourMs), transaction, audit }),
  'queues.resume': ({ storage }, transaction) => storage.queues.resume('new-7', { transaction, audit }),
  'queues.limit': ({ storage }, transaction) =>
    storage.queues.limit('new-8', { concurrencyLimit: 3 }, { transaction, audit }),
  'queues.limitKey': ({ storage }, transaction) =>
    storage.queues.limitKey('keyed', 'c', 3, { transaction, audit }),
  'queues.delete': ({ storage }, transaction) => storage.queues.delete('idle', { transaction, audit }),
  'jobTypes.pause': ({ storage }, transaction) => storage.jobTypes.pause('work', { transaction, audit }),
  'jobTypes.resume': ({ storage }, transaction) => storage.jobTypes.resume('paused', { transaction, audit }),
  'servers.quiet': ({ storage, server }, transaction) =>
    storage.servers.quiet(server, { transaction, audit }),
  'servers.stop': ({ storage, server }, transaction) => storage.servers.stop(server, { transaction, audit }),
  'batches.find': ({ storage, batch }, transaction) => storage.batches.find(batch, transaction),
  'batches.cancel': ({ storage, batch }, transaction) =>
    storage.batches.cancel(batch, { transaction, audit }),
  'recurring.add': ({ storage }, transaction) =>
    storage.recurring.add(defineRecurringJob({ id: 'other', definition: job, args: {}, cron: '0 3 * * *' }), {
      transaction,
      audit,
    }),
  'recurring.updateAll': ({ storage }, transaction) =>
    storage.recurring.updateAll(
      ['known'],
      async () => [defineRecurringJob({ id: 'known', definition: job, args: {}, cron: '0 4 * * *' })],
      { transaction, audit },
    ),
  'recurring.remove': ({ storage }, transaction) => storage.recurring.remove('known', { transaction, audit }),
  'recurring.removeAll': ({ storage }, transaction) =>
    storage.recurring.removeAll(['known'], { transaction, audit }),
  'recurring.trigger': ({ storage }, transaction) =>
    storage.recurring.trigger('known', { transaction, audit }),
  'recurring.pause': ({ storage }, transaction) => storage.recurring.pause('known', { transaction, audit }),
  'recurring.resume': ({ storage }, transaction) => storage.recurring.resume('known', { transaction, audit }),
  'bulk.start': ({ storage }, transaction) =>
    storage.bulk.start({ action: 'cancel', filter: { queue: ['known'] } }, { transaction, audit }),
  'bulk.cancel': ({ storage, bulk }, transaction) => storage.bulk.cancel(bulk, { transaction, audit }),
  'incidents.find': ({ storage, incident }, transaction) => storage.incidents.find(incident, transaction),
  'incidents.acknowledge': ({ storage, incident }, transaction) =>
    storage.incidents.acknowledge(incident, { by: 'ann' }, { transaction, audit }),
  'incidents.mute': ({ storage, incident }, transaction) =>
    storage.incidents.mute(incident, { until: new Date(Date.now() + hourMs) }, { transaction, audit }),
  'installation.resume': ({ storage }, transaction) =>
    storage.installation.resume('longshore', { transaction, audit }),
  'setAside.find': ({ storage, item }, transaction) => storage.setAside.find(item, transaction),
  'setAside.retry': ({ storage, item }, transaction) => storage.setAside.retry(item, { transaction, audit }),
  'setAside.discard': ({ storage, item }, transaction) =>
    storage.setAside.discard(item, { transaction, audit }),
  'savedSearches.save': ({ storage }, transaction) =>
    storage.savedSearches.save({ name: 's', query: 'state=failed', savedBy: 'ada' }, { transaction, audit }),
  'savedSearches.delete': ({ storage }, transaction) =>
    storage.savedSearches.delete('s', { transaction, audit }),
  'deployments.record': ({ storage }, transaction) =>
    storage.deployments.record({ version: '1' }, { transaction, audit }),
  'deployments.delete': ({ storage }, transaction) =>
    storage.deployments.delete(newId(), { transaction, audit }),
  'reports.report': ({ storage, waiting, server }, transaction) =>
    storage.reports.report(
      [
        {
          claim: { jobId: waiting, queue: 'new-9', serverId: server, attempt: 1 },
          lines: [],
          progress: null,
        },
      ],
      transaction,
    ),
};

describe('A call with a transaction, whose pool has no other connection', () => {
  let database: TestDatabase;
  let observer: pg.Client;
  let pool: pg.Pool;
  let storage: PostgresStorage;
  let prepared: Prepared;
  /** Set while a call runs, and in whatever it starts. */
  const inCall = new AsyncLocalStorage<true>();
  let asked = false;

  before(async () => {
    database = await createStoreDatabase();
    observer = new pg.Client({ connectionString: database.url });
    await observer.connect();
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
    Object.assign(pool, {
      connect: (...args: unknown[]) => {
        if (inCall.getStore() === true) {
          asked = true;
          throw new Error('A call with a transaction asked the pool for another connection');
        }
        return connect(...args);
      },
    });
    storage = new PostgresStorage({ pool, ...patientStorage });
    await storage.open();
    const client = new JobClient(storage);
    const enqueued = async (more: object = {}): Promise<string> => (await client.enqueue(job, {}, more)).id;
    const cancelled = await enqueued({ queue: 'idle' });
    const failed = await enqueued();
    for (const id of [cancelled, failed]) await storage.control.cancel(id);
    await database.query(
      `insert into longshore.job_step (queue_id, job_id, name, kind, state, position, is_remembered, attempts, job_attempt, server_id, started_at)
       select queue_id, $1::uuid, 'one', 'step', 'failed', 1, false, 1, 1, $1::uuid, now() from longshore.job_history where id = $1::uuid`,
      [failed],
    );
    await enqueued({ queue: 'keyed', concurrency: { key: 'c', limit: 1 } }); // blocked, because nothing resolves keys
    const batch = await client.enqueueBatch({ jobs: [{ definition: job, args: {} }] });
    await client.recurring.addOrUpdate({ id: 'known', definition: job, args: {}, cron: '0 3 * * *' });
    await storage.jobTypes.pause('paused');
    const description = { host: 'x', pid: 1, queues: ['known'], concurrency: 1, timeoutMs: hourMs };
    const server = await storage.servers.register(description);
    const bulk = await storage.bulk.start({ action: 'run', filter: { queue: ['known'] }, delayMs: hourMs });
    await database.query(`
      insert into longshore.set_aside (role, key, error)
      values ('cleaner', 'retention', '{"name": "Error", "message": "odd", "stack": null}')`);
    const [item] = await storage.setAside.list({ limit: 1 });
    const warning = { kind: 'queue-lags', key: 'k', subject: 'k', text: 'Odd.', advice: '', link: '' };
    await storage.incidents.observe([{ ...warning, beganAt: null, isMeasured: true, isRecovering: false }]);
    const [incident] = await storage.incidents.list({ limit: 1 });
    prepared = {
      storage,
      client,
      waiting: await enqueued(),
      scheduled: await enqueued({ delayMs: hourMs }),
      failed,
      cancelled,
      batch: batch.id,
      server: server.id,
      bulk: bulk.id,
      item: item?.id ?? '',
      incident: incident?.id ?? '',
    };
  });

  after(async () => {
    await storage.close();
    await pool.end();
    await observer.end();
    await database.drop();
  });

  /** Resolves when another connection waits for a lock of the transaction, or the call is over. */
  const blocked = (isOver: () => boolean): Promise<string | null> =>
    eventually(
      async () => {
        const { rows } = await observer.query<{ query: string }>(
          `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return isOver() ? null : (rows[0]?.query ?? 'nothing waits');
      },
      (query) => query !== 'nothing waits',
    );

  for (const [name, call] of Object.entries(calls)) {
    it(`uses only the connection of the transaction: ${name}`, async () => {
      const connection = await pool.connect();
      let isOver = false;
      try {
        await connection.query('begin');
        // Other connections can still read, but not write or lock anything.
        const { rows } = await observer.query<{ tables: string }>(
          `select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables
           from pg_tables where schemaname = 'longshore'`,
        );
        await connection.query(`lock table ${rows[0]?.tables} in exclusive mode`);
        asked = false;
        const done = inCall.run(true, () => call(prepared, connection)).finally(() => (isOver = true));
        expect(await Promise.race([blocked(() => isOver), done.then(() => null)])).to.equal(null);
        await done;
        expect(asked, 'the call asked the pool for another connection').to.equal(false);
      } finally {
        isOver = true;
        connection.release(true);
      }
    });
  }

  it('covers every method of the storage that takes a transaction', async () => {
    const withTransaction = new Set(Object.keys(calls).map((name) => name.replace(/,.*/, '')));
    const unknown = Object.entries(storage).flatMap(([area, part]: [string, unknown]) => {
      const others = withoutTransaction[area]?.split(' ') ?? [];
      return methodsOf(part)
        .filter((method) => !others.includes(method))
        .map((method) => `${area}.${method}`)
        .filter((name) => !withTransaction.has(name));
    });
    expect(unknown).to.deep.equal([]);
  });
});

/** The other methods of the storage, by area: none takes a transaction. Add a new method here, or to the calls above. */
const withoutTransaction: Readonly<Record<string, string>> = {
  clock: 'now fresh read observe',
  enqueuer: 'startOn ensureQueue drained',
  jobs: 'findMany findDocuments listAttempts list listPage search listBrief listLatestFailed searchFailed listContinuations listDependents listSorted searchedRange count countByState stateCounts countSkipped listOrphans findRow counts queueIds',
  control: 'cancellations',
  claims: 'findReady claim renew claimsOf release',
  completions: 'complete completeInTransaction inTransaction',
  steps: 'read record recordInTransaction listCorrelated',
  leases: 'find listStalled',
  reports: 'listLogs listLatestLogs listTransitions countLogs',
  maintenance: 'promoteDue resumeDue resolveDependencies rescue maintain',
  queues: 'list listBlockingKeys synchronize',
  servers: 'register list listLost close',
  batches: 'resolve findMany list count',
  recurring: 'addOrUpdate update find findArgs list count listMissed synchronize fireDue',
  bulk: 'preview find listChanged list count advance',
  feed: 'read readSettled reportsOf',
  quotas: 'admit defineQueues',
  statistics: 'listErrorGroups throughput throughputByQueue',
  timings: 'started ended maintain store read listNames readHistories',
  jobTypes: 'listPaused',
  deployments: 'noteServer find list versionsOf',
  savedSearches: 'list',
  warningRules: 'list synchronize',
  audit: 'record list count',
  setAside: 'put putInOwnTransaction excludedKeys removeProcessed list count listen',
  incidents: 'reserveCheck observe list',
  installation: 'read pauseCopy',
  alerts: 'register update take delivered failed listFailures',
};

function methodsOf(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const prototype = Object.getPrototypeOf(part) as object;
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
}
