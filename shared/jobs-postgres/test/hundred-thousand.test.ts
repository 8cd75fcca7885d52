import { defineJob, JobClient, type JobState } from '@longshore/jobs';
import type { BulkAction } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const jobs = 100_000;
/** Number of jobs that a bulk operation changes, in ten chunks. */
const changedJobs = 10_000;
const work = defineJob({ name: 'work' });

describe('A hundred thousand jobs in one call', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  const enqueueAll = (length = jobs): Promise<unknown> =>
    new JobClient(storage).enqueueMany(Array.from({ length }, (_, n) => ({ definition: work, args: { n } })));

  it('are enqueued in one transaction, by statements of bounded size', async () => {
    await database.query('create table public.written (jobs integer, transaction xid8)');
    await database.query(`create function public.note() returns trigger language plpgsql as $$ begin
      insert into public.written select count(*), pg_current_xact_id() from fresh; return null; end $$`);
    await database.query(`create trigger note after insert on longshore.job
      referencing new table as fresh for each statement execute function public.note()`);
    await enqueueAll();
    const [written] = await database.query(
      'select sum(jobs)::integer as jobs, max(jobs) as most, count(distinct transaction::text)::integer as transactions from public.written',
    );
    expect(written).to.deep.equal({ jobs, most: 2_000, transactions: 1 });
  });

  it('are enqueued all or none', async () => {
    await database.query(`alter table longshore.job add check (args <> '{"n":99999}')`);
    const failure: unknown = await enqueueAll().catch((error: unknown) => error);
    expect(failure).to.include({ code: '23514' });
    expect(await storage.jobs.stateCounts()).to.include({ enqueued: 0 });
    expect(await database.query('select from longshore.job where name = $1', ['work'])).to.have.length(0);
  });

  it('are cancelled, retried, cancelled again and deleted by bulk operations', async () => {
    await enqueueAll(changedJobs);
    const steps: readonly [BulkAction, JobState | null][] = [
      ['cancel', 'cancelled'],
      ['retry', 'enqueued'],
      ['cancel', 'cancelled'],
      ['delete', null],
    ];
    for (const [action, state] of steps) {
      const { id } = await storage.bulk.start({ action, filter: { name: ['work'] } });
      while (await storage.bulk.advance());
      expect(await storage.bulk.find(id), action).to.include({
        state: 'done',
        changed: changedJobs,
        skipped: 0,
      });
      const counts = await storage.jobs.stateCounts();
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
      expect([state === null ? 0 : counts[state], all], action).to.deep.equal([
        all,
        state === null ? 0 : changedJobs,
      ]);
    }
  });
});
