import { defineJob, JobClient, type JobState } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

describe('A cancellation request that came when its job had just gone back to the queue', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });
  after(async () => {
    await storage.close();
    await database.drop();
  });

  /** Enqueues a job, and leaves the request that a canceller makes who still sees the job running. */
  async function requested(queue: string): Promise<string> {
    const { id } = await new JobClient(storage).enqueue(work, {}, { queue });
    await database.query(
      'insert into longshore.job_cancellation (queue_id, job_id) select queue_id, id from longshore.job where id = $1',
      [id],
    );
    return id;
  }

  const claimedOf = async (queue: string): Promise<number> => {
    const server = await storage.servers.register({
      host: 'here',
      pid: 1,
      queues: [queue],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const jobs = await storage.claims.claim({ serverId: server.id, queue, limit: 10, leaseMs: 3_600_000 });
    await server.unregister();
    return jobs.length;
  };
  const stateOf = async (id: string): Promise<JobState | undefined> => (await storage.jobs.find(id))?.state;

  for (const queue of ['without-limits', 'with-limits'] as const) {
    it(`keeps servers from claiming the job, in a queue ${queue.replace('-', ' ')}`, async () => {
      const id = await requested(queue);
      if (queue === 'with-limits') await storage.queues.limit(queue, { concurrencyLimit: 5 });
      expect([await claimedOf(queue), await stateOf(id)]).to.deep.equal([0, 'enqueued']);
    });
  }

  it('is carried out by the next maintenance', async () => {
    const id = await requested('maintained');
    await storage.maintenance.maintain();
    expect(await stateOf(id)).to.equal('cancelled');
  });
});
