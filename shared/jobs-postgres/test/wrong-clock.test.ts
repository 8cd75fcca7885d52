import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { firstIdOf } from '@longshore/jobs/storage';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { withClock } from './support/shifted-clock.js';
import { createStoreDatabase } from './support/store-database.js';

const dayMs = 86_400_000;
const talk = defineJob({ name: 'talk', maxAttempts: 1 });

for (const days of [-366, -10, 10, 366]) {
  describe(`A process whose clock is off by ${days} days`, () => {
    let database: TestDatabase;
    let storage: PostgresStorage;

    before(async () => {
      database = await createStoreDatabase();
      storage = new PostgresStorage({ url: database.url, ...patientStorage });
      await storage.open();
      const right = new JobServer({
        storage,
        ...patientServer,
        handlers: [
          handleJob(talk, () => {
            throw new Error('Fog');
          }),
        ],
      });
      await right.start();
      const { id } = await new JobClient(storage).enqueue(talk, {});
      await eventually(async () => (await storage.jobs.find(id))?.state === 'failed');
      await right.stop();
    });

    after(async () => {
      await storage.close();
      await database.drop();
    });

    /** Moves the process's clock by `days` days, opens a storage and passes it to `work`. */
    async function withWrongClock<Result>(
      work: (wrong: PostgresStorage) => Promise<Result>,
    ): Promise<Result> {
      return withClock(days * dayMs, async () => {
        const wrong = new PostgresStorage({ url: database.url, ...patientStorage });
        await wrong.open();
        try {
          return await work(wrong);
        } finally {
          await wrong.close();
        }
      });
    }

    it('generates ids by the database clock, so that its jobs sort correctly', async () => {
      const [before, { id, batchId }, after] = await withWrongClock(async (wrong) => {
        const client = new JobClient(wrong);
        const start = await wrong.readClock();
        const job = await client.enqueue(talk, {}, { queue: 'idle' });
        const batch = await client.enqueueBatch({
          jobs: [{ definition: talk, args: {}, options: { queue: 'idle' } }],
        });
        return [start, { id: job.id, batchId: batch.id }, await wrong.readClock()] as const;
      });
      for (const made of [id, batchId]) {
        expect(made >= firstIdOf(new Date(before.getTime() - 1_000))).to.equal(true);
        expect(made < firstIdOf(new Date(after.getTime() + 1_000))).to.equal(true);
      }
    });

    it('lists, counts and groups failures', async () => {
      const found = await withWrongClock(async (wrong) => ({
        listed: (await wrong.jobs.list({ filter: { name: ['talk'], state: ['failed'] }, limit: 10 })).length,
        beyond: (
          await wrong.jobs.listBrief({ filter: { name: ['talk'] }, limit: 10, reach: 'history' })
        ).jobs.filter(({ state }) => state === 'failed').length,
        counted: (await wrong.jobs.count({ name: ['talk'], state: ['failed'] })).count,
        groups: (await wrong.statistics.listErrorGroups({ sinceMs: 3_600_000, limit: 10 })).groups.length,
      }));
      expect(found).to.deep.equal({ listed: 1, beyond: 1, counted: 1, groups: 1 });
    });

    it('stamps its jobs’ reports with the time of the database', async () => {
      const at = await withWrongClock(async (wrong) => {
        const said = defineJob({ name: 'said' });
        const server = new JobServer({
          storage: wrong,
          ...patientServer,
          handlers: [handleJob(said, ({ log }) => log.info('Land'))],
        });
        await server.start();
        const { id } = await new JobClient(wrong).enqueue(said, {});
        const [line] = await eventually(async () => {
          const lines = await wrong.reports.listLogs(id);
          return lines.length > 0 && lines;
        });
        await server.stop();
        return line?.at.getTime() ?? NaN;
      });
      expect(Math.abs(at - (await storage.readClock()).getTime())).to.be.below(60_000);
    });
  });
}
