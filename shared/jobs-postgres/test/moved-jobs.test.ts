import { EventEmitter, once } from 'node:events';
import { defineJob, type Job, JobClient, type JobStorage } from '@longshore/jobs';
import { type ClaimedJob, newId, type ServerRegistration } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'from' });
const later = new Date('2090-01-01T00:00:00Z');
const error = { name: 'Error', message: 'no', stack: null };

describe('A job that another process moved to another queue', () => {
  let database: TestDatabase;
  /** The storage of a process that looks jobs up. */
  let storage: PostgresStorage;
  /** The storage of another process that moves jobs. */
  let mover: PostgresStorage;
  let connection: pg.Client;
  let queues = 0;
  const servers: ServerRegistration[] = [];

  before(async () => {
    database = await createStoreDatabase();
    [storage, mover] = [1, 2].map(() => new PostgresStorage({ url: database.url, ...patientStorage })) as [
      PostgresStorage,
      PostgresStorage,
    ];
    await Promise.all([storage.open(), mover.open()]);
    connection = new pg.Client(database.url);
    await connection.connect();
  });

  after(async () => {
    await connection.end();
    await Promise.all(servers.map((server) => server.unregister()));
    await Promise.all([storage.close(), mover.close()]);
    await database.drop();
  });

  async function move(id: string, queue: string): Promise<void> {
    await mover.control.edit([id], async (current) => {
      const job = current.get(id);
      if (job === undefined) throw new Error('It is not there');
      return new Map([
        [id, { queue, priority: job.priority, args: JSON.stringify(job.args), runAt: job.runAt }],
      ]);
    });
  }

  async function resolveAll(): Promise<void> {
    while ((await storage.maintenance.resolveDependencies(100)) > 0);
  }

  const newQueueName = (): string => `queue-${++queues}`;

  /** Claims the jobs of a queue for a new server. */
  async function claim(queue: string): Promise<ClaimedJob[]> {
    const server = await storage.servers.register({
      host: 'here',
      pid: 1,
      queues: [queue],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    servers.push(server);
    return storage.claims.claim({ serverId: server.id, queue, limit: 10, leaseMs: 3_600_000 });
  }

  /** Returns the id of a job that was moved to another queue after `storage` had looked it up. */
  async function moved(options: object = { runAt: later }): Promise<string> {
    const { id } = await new JobClient(mover).enqueue(work, { n: 1 }, options);
    expect(await storage.jobs.find(id)).to.include({ queue: 'from' });
    await move(id, 'to');
    return id;
  }

  const lookups: Record<string, (id: string) => Promise<unknown>> = {
    findJob: async (id) => (await storage.jobs.find(id))?.queue,
    'findJob, in capitals': async (id) => (await storage.jobs.find(id.toUpperCase()))?.queue,
    findDocuments: async (id) => (await storage.jobs.findDocuments(id)) !== null && 'to',
    listTransitions: async (id) => (await storage.reports.listTransitions(id)).length === 1 && 'to',
    editJobs: async (id) => {
      let found: Job | undefined;
      await storage.control.edit([id], async (current) => {
        found = current.get(id);
        return new Map();
      });
      return found?.queue;
    },
  };
  for (const [what, lookUp] of Object.entries(lookups)) {
    it(`is found by ${what}`, async () => {
      expect(await lookUp(await moved())).to.equal('to');
    });
  }

  const controls: Record<
    string,
    (of: JobStorage, id: string) => ReturnType<JobStorage['control']['cancel']>
  > = {
    cancelJob: (of, id) => of.control.cancel(id),
    runJob: (of, id) => of.control.run(id),
    rescheduleJob: (of, id) => of.control.reschedule(id, new Date('2091-01-01T00:00:00Z')),
  };
  for (const [what, control] of Object.entries(controls)) {
    it(`can be changed by ${what}`, async () => {
      const result = await control(storage, await moved());
      expect(result).to.deep.include({ outcome: 'ok', changed: true });
      expect(result).to.have.nested.property('job.queue', 'to');
    });

    it(`can be changed by ${what} that located it before it was moved`, async () => {
      const { id } = await new JobClient(mover).enqueue(work, {}, { runAt: later });
      await connection.query('begin');
      await connection.query(
        `update longshore.job_scheduled set queue_id = (select id from longshore.queue where name = 'to') where id = $1`,
        [id],
      );
      const result = control(storage, id);
      await eventually(() => database.waitingForLocks());
      await connection.query('commit');
      expect(await result).to.deep.include({ outcome: 'ok', changed: true });
      expect(await result).to.have.nested.property('job.queue', 'to');
    });
  }

  it('can be retried and deleted after its end', async () => {
    const id = await moved();
    await mover.control.cancel(id);
    expect(await storage.control.retry(id)).to.deep.include({ outcome: 'ok', changed: true });
    await move(id, 'third');
    await mover.control.cancel(id);
    expect(await storage.control.delete(id)).to.deep.include({ outcome: 'ok', changed: true });
    expect(await storage.jobs.find(id)).to.equal(null);
  });

  it('is looked up in one place at a time, however often it is moved', async () => {
    const { id } = await new JobClient(mover).enqueue(work, {}, { runAt: later });
    const moves = async (): Promise<void> => {
      for (let n = 0; n < 40; n++) await move(id, n % 2 === 0 ? 'to' : 'from');
    };
    const found: (string | undefined)[] = [];
    const look = async (): Promise<void> => {
      for (let n = 0; n < 200; n++) found.push((await storage.jobs.find(id))?.state);
    };
    await Promise.all([moves(), look()]);
    expect(new Set(found)).to.deep.equal(new Set(['scheduled']));
  });

  /** Enqueues a job that waits for a running one. Returns its id, and a function that ends the running one. */
  async function dependent(): Promise<{ id: string; finish: (kind: 'done' | 'failed') => Promise<unknown> }> {
    const queue = newQueueName();
    const client = new JobClient(mover);
    const parent = await client.enqueue(work, {}, { queue, maxAttempts: 1 });
    const child = await client.enqueue(work, {}, { queue: 'from', after: { parents: [parent.id] } });
    await resolveAll();
    const [claimed] = await claim(queue);
    if (claimed === undefined) throw new Error('The parent was not claimed');
    const outcomes = { done: { kind: 'done', result: 'null' }, failed: { kind: 'failed', error } } as const;
    const finish = (kind: 'done' | 'failed'): Promise<unknown> =>
      storage.completions.complete([{ claim: claimed.claim, outcome: outcomes[kind], hasMeta: true }]);
    return { id: child.id, finish };
  }

  for (const [kind, state] of [
    ['done', 'enqueued'],
    ['failed', 'cancelled'],
  ] as const)
    it(`becomes ${state} if its parent ends as ${kind} while it is moved`, async () => {
      const { id, finish } = await dependent();
      const [locked, release] = [new EventEmitter(), new EventEmitter()];
      const isLocked = once(locked, 'event');
      const moving = mover.control.edit([id], async (current) => {
        locked.emit('event');
        await once(release, 'event');
        const job = current.get(id);
        return new Map([[id, { queue: 'to', priority: 0, args: '{}', runAt: job?.runAt ?? null }]]);
      });
      await isLocked;
      await finish(kind);
      const resolved = storage.maintenance.resolveDependencies(100);
      await eventually(() => database.waitingForLocks());
      release.emit('event');
      await Promise.all([moving, resolved]);
      await resolveAll();
      expect(await storage.jobs.find(id)).to.include({ queue: 'to', state });
    });

  /** Makes a request as it remains if it came while the job's attempt went back to the queue. */
  const request = (id: string, queue: string): Promise<unknown> =>
    database.query(
      `insert into longshore.job_cancellation (queue_id, job_id) select id, $1 from longshore.queue where name = $2`,
      [id, queue],
    );

  for (const [state, options] of Object.entries({ enqueued: {}, scheduled: { runAt: later } }))
    it(`takes a cancellation along that is about to be carried out (${state})`, async () => {
      const { id } = await new JobClient(mover).enqueue(work, {}, options);
      await request(id, 'from');
      await move(id, 'to');
      await storage.maintenance.maintain();
      expect(await storage.jobs.find(id)).to.include({ queue: 'to', state: 'cancelled' });
      expect(await database.query('select * from longshore.job_cancellation')).to.deep.equal([]);
    });

  it('is followed by a cancellation that was requested in its old queue', async () => {
    const id = await moved();
    await request(id, 'from');
    await storage.maintenance.maintain();
    expect(await storage.jobs.find(id)).to.include({ queue: 'to', state: 'cancelled' });
    expect(await database.query('select * from longshore.job_cancellation')).to.deep.equal([]);
  });

  it('is still to be cancelled if it already runs in its new queue', async () => {
    const to = newQueueName();
    const { id } = await new JobClient(mover).enqueue(work, {});
    await move(id, to);
    const [claimed] = await claim(to);
    await request(id, 'from');
    await storage.maintenance.maintain();
    if (claimed === undefined) throw new Error('The job was not claimed');
    await storage.completions.complete([
      { claim: claimed.claim, outcome: { kind: 'retry', error, delayMs: 0 }, hasMeta: true },
    ]);
    expect(await storage.jobs.find(id)).to.include({ queue: to, state: 'cancelled' });
  });

  it('leaves nothing in its old queue but its unique key', async () => {
    const client = new JobClient(mover);
    const parent = await client.enqueue(work, {}, { runAt: later });
    const { id } = await client.enqueue(
      work,
      {},
      { queue: 'left', after: { parents: [parent.id] }, unique: { key: 'k' } },
    );
    await mover.control.run(id);
    const [claimed] = await claim('left');
    if (claimed === undefined) throw new Error('The job was not claimed');
    const line = { line: 1, at: new Date(), level: 'info', message: 'tried', fields: null } as const;
    await storage.reports.report([{ claim: claimed.claim, progress: null, lines: [line] }]);
    await storage.claims.release([claimed.claim]);
    await request(id, 'left');
    await database.query(
      `insert into longshore.set_aside (role, key, queue_id, job_id, error, retry_at)
       select 'bulk', $1::text, id, $1::uuid, '{}', 'infinity' from longshore.queue where name = 'left'`,
      [id],
    );
    await move(id, 'to');
    await resolveAll();
    const columns = await database.query<{ table: string; id: string }>(
      `select own.table_name as table, other.column_name as id
       from information_schema.columns as own join information_schema.columns as other using (table_schema, table_name)
       join information_schema.tables using (table_schema, table_name)
       where table_schema = 'longshore' and table_type = 'BASE TABLE' and own.column_name = 'queue_id'
         and other.column_name in ('id', 'job_id', 'child_id') and other.data_type = 'uuid'`,
    );
    const left: string[] = [];
    for (const { table, id: column } of columns) {
      const rows = await database.query(
        `select 1 from longshore."${table}" as row join longshore.queue on queue.id = row.queue_id
         where queue.name = 'left' and row."${column}" = $1`,
        [id],
      );
      if (rows.length > 0) left.push(table);
    }
    expect(columns.length).to.be.above(8);
    expect(left).to.deep.equal(['job_key']);
  });

  it('is unknown if it does not exist', async () => {
    const id = await moved();
    await mover.control.cancel(id);
    await mover.control.delete(id);
    expect(await storage.control.cancel(id)).to.deep.equal({ outcome: 'unknown' });
    expect(await storage.jobs.find(newId())).to.equal(null);
  });
});
