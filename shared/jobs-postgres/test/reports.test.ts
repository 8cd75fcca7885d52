import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work', maxAttempts: 1 });

describe('The progress and logs of jobs on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 3 });
    await storage.open();
    client = new JobClient(storage);
  });

  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  async function run(handler: Parameters<typeof handleJob>[1], jobs = 1): Promise<string[]> {
    const server = new JobServer({
      storage,
      ...patientServer,
      handlers: [handleJob(work, handler)],
      concurrency: jobs,
    });
    await server.start();
    const made = await client.enqueueMany(
      Array.from({ length: jobs }, () => ({ definition: work, args: {} })),
    );
    await eventually(
      () => storage.jobs.stateCounts(),
      ({ done, failed }) => done + failed === jobs,
    );
    await server.stop();
    return made.map(({ id }) => id);
  }

  it('are written while their handlers’ transactions take every connection', async () => {
    let begun = 0;
    const ids = await run(async ({ log, progress, transaction }) => {
      log.info('before');
      return transaction(async () => {
        log.info('within');
        progress(100);
        begun++;
        if (begun < 3) await eventually(() => begun >= 3);
      });
    }, 3);
    for (const id of ids) {
      expect((await storage.reports.listLogs(id)).map(({ message }) => message)).to.deep.equal([
        'before',
        'within',
      ]);
      expect((await storage.jobs.find(id))?.progress?.percent).to.equal(100);
    }
  });

  it('are kept when their handler’s transaction rolls back', async () => {
    const [id = ''] = await run(async ({ log, transaction }) =>
      transaction(async () => {
        log.error('no good');
        throw new Error('rolled back');
      }),
    );
    expect((await storage.reports.listLogs(id)).map(({ message }) => message)).to.deep.equal(['no good']);
  });

  it('are deleted with the job', async () => {
    const [id = ''] = await run(({ log }) => log.info('secret'));
    await storage.control.delete(id);
    expect(await database.query('select from longshore.job_report')).to.deep.equal([]);
  });

  it('are dropped by day, after the longest history', async () => {
    const now = Date.now();
    const day = (daysAgo: number): string => new Date(now - daysAgo * 86_400_000).toISOString().slice(0, 10);
    for (const daysAgo of [28, 33]) {
      const name = `job_report_${day(daysAgo).replaceAll('-', '')}`;
      await database.query(
        `create table longshore.${name} partition of longshore.job_report
         for values from ('${day(daysAgo)} 00:00+00') to ('${day(daysAgo - 1)} 00:00+00')`,
      );
    }
    await storage.maintenance.maintain();
    await database.query(`update longshore.expiring_day set seen_at = seen_at - interval '1 day'`);
    // One round may not suffice, because it gives up if a lock on a partition is not free within half a second.
    const there = await eventually(
      async () => {
        const later = new PostgresStorage({ url: database.url, ...patientStorage });
        await later.maintenance.maintain();
        await later.close();
        const rows = await database.query<{ name: string }>(
          `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
           where inhparent = 'longshore.job_report'::regclass`,
        );
        return rows.map(({ name }) => name);
      },
      (names) => !names.includes(`job_report_${day(33).replaceAll('-', '')}`),
    );
    expect(there).to.include(`job_report_${day(28).replaceAll('-', '')}`);
  });

  it('are dropped, without delaying anything, for an attempt older than any history', async () => {
    const { id } = await client.enqueue(work, {});
    const server = await storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['default'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const [job] = await storage.claims.claim({
      serverId: server.id,
      queue: 'default',
      limit: 1,
      leaseMs: 3_600_000,
    });
    if (job === undefined) throw new Error('No job was claimed');
    await database.query(
      `update longshore.job set started_at = now() - interval '31 days' where id = '${id}'`,
    );
    const report = { claim: job.claim, progress: { percent: 1, message: null, at: new Date() }, lines: [] };
    expect(await storage.reports.report([report])).to.deep.equal([]);
    expect((await storage.jobs.find(id))?.progress).to.equal(null);
  });
});
