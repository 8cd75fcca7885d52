import { defineJob, type Job, JobClient, type JobStorage } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', queue: 'from' });
const later = new Date('2090-01-01T00:00:00Z');

describe('A job that another process moved to another queue', () => {
  let database: TestDatabase;
  /** The storage of a process that looks jobs up. */
  let storage: PostgresStorage;
  /** The storage of another process that moves jobs. */
  let mover: PostgresStorage;
  let connection: pg.Client;

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

  it('is unknown if it does not exist', async () => {
    const id = await moved();
    await mover.control.cancel(id);
    await mover.control.delete(id);
    expect(await storage.control.cancel(id)).to.deep.equal({ outcome: 'unknown' });
    expect(await storage.jobs.find(newId())).to.equal(null);
  });
});
