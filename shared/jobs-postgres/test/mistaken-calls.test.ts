import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineJob, JobClient } from '@longshore/jobs';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A mistaken call of an operator', () => {
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

  const refused = (call: () => Promise<unknown>): Promise<unknown> =>
    call().then(
      () => expect.fail('was accepted'),
      (error: unknown) => error,
    );

  // Mocha fails a test that leaves a rejected promise behind.
  it('with null as the options changes nothing, and leaves no rejection behind', async () => {
    const { id } = await new JobClient(storage).enqueue(defineJob({ name: 'a' }), {}, { delayMs: 3_600_000 });
    const options = null as unknown as undefined;
    await refused(() => storage.control.cancel(id, options));
    await refused(() => storage.control.run(id, options));
    await refused(() => storage.control.reschedule(id, new Date('2030-01-01T00:00:00Z'), options));
    expect(await storage.jobs.find(id)).to.include({ state: 'scheduled' });
  });

  it('with something else as the name of a queue states what it got, and makes no queue', async () => {
    const before = await storage.queues.list();
    for (const name of [{ name: 'a' }, 5, null, undefined] as unknown as string[]) {
      for (const call of [
        () => storage.queues.limit(name, { concurrencyLimit: 1 }),
        () => storage.queues.pause(name),
        () => storage.queues.resume(name),
      ])
        expect(await refused(call))
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.contains('name must be a string, not');
    }
    expect(await storage.queues.list()).to.have.length(before.length);
  });
});
