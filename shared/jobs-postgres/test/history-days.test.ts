import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, overriding, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const happy = defineJob({ name: 'happy' });
const sad = defineJob({ name: 'sad', maxAttempts: 1 });
const transactional = defineJob({ name: 'transactional' });
const definitions = [happy, sad, transactional];

describe('A history without partitions', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    client = new JobClient(storage);
    await storage.open();
    await database.query(`
      do $$ declare part text; begin
        for part in select relname from pg_class
          where relnamespace = 'longshore'::regnamespace and relkind = 'r' and relname ~ '^job_(history|report)_.*[0-9]{8}$'
        loop execute format('drop table longshore.%I', part); end loop;
      end $$`);
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  const rowsIn = async (table: string): Promise<number> => {
    const [row] = await database.query<{ rows: number }>(
      `select count(*)::integer as rows from longshore.${table}`,
    );
    return row?.rows ?? NaN;
  };

  /** Returns the number of rows in the partitions of days. */
  const rowsInDays = async (history: string): Promise<number> =>
    (await rowsIn(history)) - (await rowsIn(`${history}_default`));

  /** Runs maintenance until `job_history_done_default` is empty. */
  const maintained = (): Promise<number> =>
    eventually(
      async () => {
        await storage.maintenance.maintain();
        return rowsIn('job_history_done_default');
      },
      (rows) => rows === 0,
    );

  async function work(maintains: boolean): Promise<string[]> {
    const withoutMaintenance = overriding(storage, { maintenance: { maintain: async () => false } });
    const server = new JobServer({
      storage: maintains ? storage : withoutMaintenance,
      handlers: [
        handleJob(happy, ({ log }) => log.info('said')),
        handleJob(sad, () => {
          throw new Error('sad');
        }),
        handleJob(transactional, ({ transaction }) =>
          transaction(async (inside) => void (await inside.query('select 1'))),
        ),
      ],
    });
    await server.start();
    try {
      const enqueued = await Promise.all(definitions.map((definition) => client.enqueue(definition, {})));
      return await eventually(async () => {
        const jobs = await Promise.all(enqueued.map(({ id }) => storage.jobs.find(id)));
        expect(jobs.every((job) => job?.finishedAt !== null)).to.equal(true);
        return jobs.map((job) => `${job?.name} ${job?.state} ${job?.attempt}`);
      });
    } finally {
      await server.stop();
    }
  }

  it('accepts finished jobs and reports at the first attempt', async () => {
    expect(await work(false)).to.deep.equal(['happy done 1', 'sad failed 1', 'transactional done 1']);
    expect([
      await rowsIn('job_history_done_default'),
      await rowsIn('job_history_failed_default'),
      await rowsIn('job_report_default'),
    ]).to.deep.equal([2, 1, 1]);
  });

  it('gets its partitions again as soon as a server checks, with the rows that had none', async () => {
    await work(false);
    await maintained();
    expect([
      await rowsInDays('job_history_done'),
      await rowsInDays('job_history_failed'),
      await rowsInDays('job_report'),
    ]).to.deep.equal([2, 1, 1]);
  });

  it('gets partitions even for distant days if rows ended on them', async () => {
    await work(false);
    await database.query(`update longshore.job_history_done_default set finished_at = '2031-01-31 12:00+00'`);
    await maintained();
    expect(await rowsIn('job_history_done_20310131')).to.equal(2);
  });

  it('gets partitions while jobs end', async () => {
    expect(await work(true)).to.deep.equal(['happy done 1', 'sad failed 1', 'transactional done 1']);
    await maintained();
  });

  it('keeps rows in place that are too many to move at once, and drops them when their retention ends', async () => {
    await storage.queues.pause('default');
    await database.query(`
      insert into longshore.job_history_done (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args)
      select queue.id, longshore.new_id(), now(), now() - interval '20 days', 0, 1, 1, 'old', '{}'
      from longshore.queue, generate_series(1, 100001) where queue.name = 'default'`);
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs) select id, 'done', 100001 from longshore.queue`,
    );
    await storage.maintenance.maintain();
    const before = await rowsIn('job_history_done_default');
    await database.query(`update longshore.expiring_day set seen_at = seen_at - interval '1 day'`);
    const later = new PostgresStorage({ url: database.url, ...patientStorage });
    await later.maintenance.maintain();
    await later.close();
    expect([
      before,
      await rowsIn('job_history_done_default'),
      (await storage.jobs.stateCounts()).done,
    ]).to.deep.equal([100_001, 0, 0]);
  });
});
