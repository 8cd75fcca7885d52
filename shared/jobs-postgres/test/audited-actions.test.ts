import { defineJob, JobClient } from '@longshore/jobs';
import type { NewAuditEntry } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

describe('Actions and their audit entries on Postgres', () => {
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

  const audit = (): NewAuditEntry => ({ who: 'ada', action: 'test', target: null, filter: null, count: 1 });
  const entries = async (): Promise<number> => (await storage.audit.list({ limit: 10 })).length;
  const refuseEntries = () => database.query(`alter table longshore.audit add check (who <> 'ada')`);
  const cancelled = async (): Promise<number> => (await storage.jobs.stateCounts()).cancelled;

  it('changes nothing if the database refuses the entry', async () => {
    const { id } = await new JobClient(storage).enqueue(work, {});
    await refuseEntries();
    const error: unknown = await storage.control.cancel(id, { audit }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: '23514' });
    expect([await cancelled(), await entries()]).to.deep.equal([0, 0]);
  });

  it('changes nothing if the connection is lost before the commit', async () => {
    const { id } = await new JobClient(storage).enqueue(work, {});
    await database.query(
      `create function public.slow() returns trigger language plpgsql as 'begin perform pg_sleep(3600); return new; end'`,
    );
    await database.query(
      'create trigger slow before insert on longshore.audit for each row execute function public.slow()',
    );
    const acting = storage.control.cancel(id, { audit }).catch((thrown: unknown) => thrown);
    await eventually(
      () =>
        database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        ),
      (ended) => ended.length > 0,
    );
    expect(await acting).to.be.instanceOf(Error);
    expect([await cancelled(), await entries()]).to.deep.equal([0, 0]);
  });

  it('cancels the jobs of a large batch with one entry', async () => {
    const id = await largeBatch();
    expect(await storage.batches.cancel(id, { audit })).to.include({ outcome: 'ok', changed: true });
    expect([await cancelled(), await entries()]).to.deep.equal([4_500, 1]);
  });

  it('cancels no job of a large batch without the entry', async () => {
    const id = await largeBatch();
    await refuseEntries();
    const error: unknown = await storage.batches.cancel(id, { audit }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: '23514' });
    expect(await cancelled()).to.equal(0);
  });

  async function largeBatch(): Promise<string> {
    const jobs = Array.from({ length: 4_500 }, () => ({ definition: work, args: {} }));
    return (await new JobClient(storage).enqueueBatch({ jobs })).id;
  }
});
