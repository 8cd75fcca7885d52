import { defineJob, JobClient, type JobStorage, MemoryStorage, TooManyQueuesError } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const job = defineJob({ name: 'plain' });

describe('The maximum number of queues', () => {
  let database: TestDatabase;
  let storage: JobStorage;
  before(async () => (database = await createStoreDatabase()));
  afterEach(() => storage.close());
  after(() => database.drop());

  const storages: Readonly<Record<string, () => JobStorage>> = {
    memory: () => new MemoryStorage({ maxQueues: 3 }),
    Postgres: () => new PostgresStorage({ url: database.url, ...patientStorage, maxQueues: 3 }),
  };
  for (const [kind, make] of Object.entries(storages))
    it(`is enforced, and existing queues keep accepting jobs: ${kind}`, async () => {
      storage = make();
      await storage.open();
      const client = new JobClient(storage);
      const enqueue = (queue: string): Promise<unknown> => client.enqueue(job, {}, { queue });
      for (const queue of ['a', 'b', 'c']) await enqueue(queue);
      const refused = await enqueue('d').catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(TooManyQueuesError);
      expect((refused as Error).message)
        .to.contain('The maximum of 3 queues has been reached')
        .and.to.contain('"d"');
      const order = (queue: string) => ({ definition: job, args: {}, options: { queue } });
      expect(
        await client.enqueueMany([order('a'), order('e')]).catch((error: unknown) => error),
      ).to.be.instanceOf(TooManyQueuesError);
      await enqueue('a');
      expect((await storage.jobs.stateCounts()).enqueued).to.equal(4);
      expect((await storage.queues.list()).map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
    });

  for (const [kind, make] of Object.entries(storages))
    it(`keeps jobs where they are if some of them would be moved to too many queues: ${kind}`, async () => {
      storage = make();
      await storage.open();
      const client = new JobClient(storage);
      for (const queue of ['a', 'b', 'c']) await storage.queues.resume(queue);
      const ids = [1, 2].map(() => client.enqueue(job, {}, { queue: 'a' }));
      const [first, second] = (await Promise.all(ids)).map(({ id }) => id) as [string, string];
      const target = { [first]: 'b', [second]: 'beyond' };
      const refused = await storage.control
        .edit([first, second], async (current) => {
          const moved = [...current].map(([id, { priority, args, runAt }]) => {
            const content = { queue: target[id] ?? '', priority, args: JSON.stringify(args), runAt };
            return [id, content] as const;
          });
          return new Map(moved);
        })
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(TooManyQueuesError);
      const found = await Promise.all([first, second].map((id) => storage.jobs.find(id)));
      expect(found.map((each) => [each?.queue, each?.state])).to.deep.equal([
        ['a', 'enqueued'],
        ['a', 'enqueued'],
      ]);
    });

  for (const [kind, make] of Object.entries(storages))
    it(`counts a deleted queue no longer: ${kind}`, async () => {
      storage = make();
      await storage.open();
      const enqueue = async (queue: string): Promise<string> => {
        const result = await new JobClient(storage)
          .enqueue(job, {}, { queue })
          .catch((error: unknown) => error);
        return result instanceof TooManyQueuesError ? 'refused' : 'enqueued';
      };
      for (const queue of ['a', 'b', 'c']) await storage.queues.resume(queue);
      for (const { id } of await storage.jobs.list({ limit: 100 })) await storage.control.cancel(id);
      await storage.queues.delete('b');
      expect(await enqueue('new')).to.equal('enqueued');
      expect(await enqueue('another')).to.equal('refused');
    });
});

describe('The maximum number of queues for SQL callers', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, maxQueues: 2 });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const enqueue = (queue: string): Promise<unknown> =>
    database.query(`select longshore.enqueue('plain', queue => '${queue}')`).catch((error: unknown) => error);

  it('is that of the process, and existing queues keep accepting jobs', async () => {
    for (const queue of ['a', 'b', 'a']) expect(await enqueue(queue)).to.have.length(1);
    expect(await enqueue('c'))
      .to.be.instanceOf(Error)
      .and.include({ code: '54000' })
      .with.property('message', 'The maximum of 2 queues has been reached, so "c" cannot be created');
  });

  it('counts a deleted queue no longer, which must then fit in again', async () => {
    for (const { id } of await storage.jobs.list({ limit: 100 })) await storage.control.cancel(id);
    await storage.queues.delete('a');
    expect(await enqueue('c')).to.have.length(1);
    expect(await enqueue('a')).to.be.instanceOf(Error);
  });
});
