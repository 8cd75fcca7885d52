import { defineJob, JobClient, MemoryStorage, type JobStorage, TooManyQueuesError } from '@longshore/jobs';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const job = defineJob({ name: 'plain' });

describe('The number of queues', () => {
  let database: TestDatabase;
  let storage: JobStorage;
  before(async () => (database = await createStoreDatabase()));
  afterEach(() => storage.close());
  after(() => database.drop());

  const storages: Readonly<Record<string, () => JobStorage>> = {
    memory: () => new MemoryStorage({ maxQueues: 3 }),
    Postgres: () => new PostgresStorage({ url: database.url, maxQueues: 3 }),
  };
  for (const [kind, make] of Object.entries(storages))
    it(`is limited, and those that there are go on taking jobs: ${kind}`, async () => {
      storage = make();
      await storage.open();
      const client = new JobClient(storage);
      const enqueue = (queue: string): Promise<unknown> => client.enqueue(job, {}, { queue });
      for (const queue of ['a', 'b', 'c']) await enqueue(queue);
      const refused = await enqueue('d').catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(TooManyQueuesError);
      expect((refused as Error).message)
        .to.contain('There are 3 queues')
        .and.to.contain('"d"');
      const order = (queue: string) => ({ definition: job, args: {}, options: { queue } });
      expect(
        await client.enqueueMany([order('a'), order('e')]).catch((error: unknown) => error),
      ).to.be.instanceOf(TooManyQueuesError);
      await enqueue('a');
      expect((await storage.jobs.stateCounts()).enqueued).to.equal(4);
      expect((await storage.queues.list()).map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
    });
});
