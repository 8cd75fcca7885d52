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
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'failed',
      );
      await right.stop();
    });

    after(async () => {
      await storage.close();
      await database.drop();
    });

    /**
     * Does some work, and returns its result and a span of the database's time that includes the work. The span is as
     * much longer on both sides as the work took, because a reading of the clock by the work can be wrong by the time
     * that it took.
     */
    async function timed<Result>(
      work: () => Promise<Result>,
    ): Promise<{ result: Result; from: Date; until: Date }> {
      const before = await storage.readClock();
      const result = await work();
      const after = await storage.readClock();
      const tookMs = after.getTime() - before.getTime();
      return {
        result,
        from: new Date(before.getTime() - tookMs),
        until: new Date(after.getTime() + tookMs),
      };
    }

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
      const { result, from, until } = await timed(() =>
        withWrongClock(async (wrong) => {
          const client = new JobClient(wrong);
          const job = await client.enqueue(talk, {}, { queue: 'idle' });
          const batch = await client.enqueueBatch({
            jobs: [{ definition: talk, args: {}, options: { queue: 'idle' } }],
          });
          return [job.id, batch.id];
        }),
      );
      for (const made of result) {
        expect(made >= firstIdOf(from)).to.equal(true);
        expect(made < firstIdOf(new Date(until.getTime() + 1))).to.equal(true);
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
      const { result, from, until } = await timed(() =>
        withWrongClock(async (wrong) => {
          const said = defineJob({ name: 'said' });
          const server = new JobServer({
            storage: wrong,
            ...patientServer,
            handlers: [handleJob(said, ({ log }) => log.info('Land'))],
          });
          await server.start();
          const { id } = await new JobClient(wrong).enqueue(said, {});
          const [line] = await eventually(
            () => wrong.reports.listLogs(id),
            (lines) => lines.length > 0,
          );
          await server.stop();
          return line?.at;
        }),
      );
      expect(result).to.be.within(from, until);
    });
  });
}
