import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

/** Errors of an application that look like failures of Postgres or of the connection to it. */
const errors: Readonly<Record<string, () => Error>> = {
  'with a word in its message': () => new Error('The connection to the payment provider was terminated'),
  'with a code of Node.js': () =>
    Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' }),
  'with a SQLSTATE of another database': () =>
    Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' }),
  'with the SQLSTATE of a deadlock elsewhere': () =>
    Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' }),
};

describe('An error of the application during a transaction of the storage', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new JobClient(storage);
  });
  after(async () => {
    await storage.close();
    await database.drop();
  });

  const thrownBy = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  for (const [what, newError] of Object.entries(errors)) {
    it(`is thrown unchanged, and nothing is repeated: ${what}, in a handler`, async () => {
      const error = newError();
      const seen: unknown[] = [];
      const handler = handleJob(work, async ({ transaction }) => {
        seen.push(
          await thrownBy(
            transaction(async (tx) => {
              await tx.query('select 1');
              throw error;
            }),
          ),
        );
      });
      const server = new JobServer({ storage, ...patientServer, queues: ['handled'], handlers: [handler] });
      await server.start();
      const { id } = await client.enqueue(work, {}, { queue: 'handled' });
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
      await server.stop();
      expect(seen).to.deep.equal([error]);
      expect(seen[0]).to.equal(error);
    });

    it(`is thrown unchanged, and nothing is repeated: ${what}, while jobs are edited`, async () => {
      const error = newError();
      const { id } = await client.enqueue(work, {}, { queue: 'edited' });
      let calls = 0;
      const edit = storage.control.edit([id], async () => {
        calls += 1;
        throw error;
      });
      expect(await thrownBy(edit)).to.equal(error);
      expect(calls).to.equal(1);
    });

    it(`is thrown unchanged, and nothing is repeated: ${what}, while jobs are read for a bulk insert`, async () => {
      const error = newError();
      let calls = 0;
      const jobs = {
        async *[Symbol.asyncIterator](): AsyncGenerator<readonly never[]> {
          calls += 1;
          yield [];
          throw error;
        },
      };
      expect(await thrownBy(storage.enqueuer.enqueue(jobs))).to.equal(error);
      expect(calls).to.equal(1);
    });
  }
});
