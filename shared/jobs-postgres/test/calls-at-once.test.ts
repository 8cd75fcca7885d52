import { type JobClient as Client, defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { knexTransaction, PostgresStorage } from '../src/index.js';
import { createOddDatabase } from './support/odd-session.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });
const elsewhere = { delayMs: 3_600_000 };

for (const [where, create] of [
  ['on a usual database', createStoreDatabase],
  ['on a database with odd settings', createOddDatabase],
] as const)
  describe(`Calls that are made at once in one transaction, ${where}`, () => {
    let database: TestDatabase;
    let storage: PostgresStorage;
    let client: Client;
    let connection: pg.Client;

    before(async () => {
      database = await create();
      storage = new PostgresStorage({ url: database.url, ...patientStorage });
      await storage.open();
      client = new JobClient(storage);
      await client.enqueue(work, {}, { ...elsewhere, unique: { key: 'taken' } });
      connection = new pg.Client({ connectionString: database.url });
      await connection.connect();
    });

    after(async () => {
      await connection.end();
      await storage.close();
      await database.drop();
    });

    type Options = NonNullable<Parameters<Client['enqueue']>[2]>;

    /** Enqueues jobs at once, some of which are refused. Returns the ids of the others. */
    async function enqueueSome(transaction: Options['transaction'], refusedAt: number): Promise<string[]> {
      const options = { ...elsewhere, ...(transaction && { transaction }) };
      const calls = [
        { ...options, unique: { key: newId() } },
        options,
        { ...options, queue: newId() },
        { ...options, unique: { key: newId() }, queue: newId() },
      ];
      calls.splice(refusedAt, 0, { ...options, unique: { key: 'taken', onConflict: 'reject' } } as never);
      const results = await Promise.allSettled(calls.map((each) => client.enqueue(work, {}, each)));
      expect(results.map(({ status }) => status).indexOf('rejected')).to.equal(refusedAt);
      return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
    }

    it('keep what they have written if others are refused, with a client of pg', async () => {
      for (const refusedAt of [0, 2, 4]) {
        await connection.query('begin isolation level read committed');
        const ids = await enqueueSome(connection, refusedAt);
        await connection.query('commit');
        expect(ids).to.have.length(4);
        expect((await storage.jobs.findMany(ids)).length).to.equal(4);
      }
    });

    it('keep what they have written if others are refused, with an adapter', async () => {
      const trx = {
        isTransaction: true,
        isCompleted: () => false,
        client: { acquireConnection: async () => connection },
      };
      await connection.query('begin isolation level read committed');
      const results = await Promise.allSettled(
        ['taken', newId(), newId(), 'taken', newId()].map((key) =>
          client.enqueue(
            work,
            {},
            {
              ...elsewhere,
              transaction: knexTransaction(trx),
              unique: { key, onConflict: 'reject' },
            },
          ),
        ),
      );
      await connection.query('commit');
      const ids = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
      expect((await storage.jobs.findMany(ids)).length).to.equal(3);
    });

    it('leave the settings of the session as they were', async () => {
      const settings = `select json_object_agg(name, setting) as settings from pg_settings where name not like '%job\\_session%'`;
      await connection.query('begin isolation level read committed');
      const before = (await connection.query<{ settings: object }>(settings)).rows[0];
      await Promise.all(
        [1, 2, 3, 4].map((priority) =>
          client.enqueue(work, {}, { ...elsewhere, priority, queue: newId(), transaction: connection }),
        ),
      );
      expect((await connection.query(settings)).rows[0]).to.deep.equal(before);
      await connection.query('rollback');
    });

    it('keep what they have written in a handler, also if it does not wait for all of them', async () => {
      const queue = newId();
      const made: string[] = [];
      const handler = handleJob(work, ({ transaction }) =>
        transaction(async (given) => {
          const unawaited = enqueueSome(given, 1).then((ids) => made.push(...ids));
          made.push(...(await enqueueSome(given, 3)));
          void unawaited;
        }),
      );
      const server = new JobServer({ storage, ...patientServer, queues: [queue], handlers: [handler] });
      await server.start();
      const { id } = await client.enqueue(work, {}, { queue });
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
      await server.stop();
      expect(made).to.have.length(8);
      expect((await storage.jobs.findMany(made)).length).to.equal(8);
    });
  });
