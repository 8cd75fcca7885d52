import { defineJob, JobClient } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Editing one job concurrently', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, poolSize: 2 });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('needs no second connection while it holds one, whatever the new queue and priority', async () => {
    const { id } = await new JobClient(storage).enqueue(defineJob({ name: 'contended' }), {});
    const edits = Array.from({ length: 20 }, (_, n) =>
      storage.control.edit(
        [id],
        async (current) =>
          new Map(
            [...current].map(([found, { args }]) => [
              found,
              { queue: `new-${n}`, priority: n + 1, args: JSON.stringify(args), runAt: null },
            ]),
          ),
      ),
    );
    const results = await Promise.allSettled(edits);
    expect(results.filter(({ status }) => status === 'rejected')).to.deep.equal([]);
  });
});
