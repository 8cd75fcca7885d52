import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { Database } from '../src/connection/database.js';
import { PostgresStorage } from '../src/index.js';
import { databaseOptions, type PostgresOptions } from '../src/connection/options.js';
import { unnamed } from '../src/connection/statement.js';
import { createStoreDatabase } from './support/store-database.js';

describe('Options of the Postgres storage', () => {
  const outOfBounds: [string, Partial<PostgresOptions>][] = [
    ['too short a batch', { commandBatchMaxTimeoutMs: 999 }],
    ['too long a batch', { commandBatchMaxTimeoutMs: 3_600_001 }],
    ['an empty pool', { poolSize: 0 }],
    ['half a connection', { poolSize: 1.5 }],
  ];
  for (const [what, options] of outOfBounds) {
    it(`${what} is rejected with the name of the option`, () => {
      const [name] = Object.keys(options);
      expect(() => new PostgresStorage({ url: 'postgres://localhost/none', ...options })).to.throw(
        RangeError,
        name,
      );
    });
  }

  describe('on a database', () => {
    let database: TestDatabase;
    let connection: pg.Client;

    beforeEach(async () => {
      database = await createStoreDatabase();
      connection = new pg.Client(database.url);
      await connection.connect();
    });

    afterEach(async () => {
      await connection.end();
      await database.drop();
    });

    async function isolation(options: Partial<PostgresOptions>): Promise<string | undefined> {
      await connection.query(`do $$ begin execute format(
        'alter database %I set default_transaction_isolation = serializable', current_database()); end $$`);
      const other = new Database(databaseOptions({ url: database.url, ...patientStorage, ...options }));
      const [row] = await other.query<{ transaction_isolation: string }>({
        name: 'isolation',
        ...unnamed('show transaction_isolation'),
      });
      await other.close();
      return row?.transaction_isolation;
    }

    it('transactions are READ COMMITTED whatever the database’s default', async () => {
      expect(await isolation({})).to.equal('read committed');
    });

    it('without useRecommendedIsolationLevel the database’s default applies', async () => {
      expect(await isolation({ useRecommendedIsolationLevel: false })).to.equal('serializable');
    });

    it('a batch that takes longer than commandBatchMaxTimeoutMs is cancelled', async () => {
      const patient = new PostgresStorage({ url: database.url, ...patientStorage });
      const hurried = new PostgresStorage({
        url: database.url,
        ...patientStorage,
        commandBatchMaxTimeoutMs: 1_000,
      });
      await patient.open();
      const job = defineJob({ name: 'held' });
      await new JobClient(patient).enqueue(job, {});
      await connection.query('begin; lock table longshore.job in exclusive mode');
      const error: unknown = await new JobClient(hurried).enqueue(job, {}).catch((caught: unknown) => caught);
      await connection.query('rollback');
      await new JobClient(patient).enqueue(job, {});
      const { enqueued } = await patient.jobs.stateCounts();
      await Promise.all([patient.close(), hurried.close()]);
      expect(error).to.be.instanceOf(StorageUnavailableError);
      expect(enqueued).to.equal(2);
    });

    it('commandBatchMaxTimeoutMs limits all statements of a batch together with Postgres 17 or newer', async () => {
      const batch = new Database(
        databaseOptions({ url: database.url, ...patientStorage, commandBatchMaxTimeoutMs: 1_000 }),
      );
      const known = await connection.query("select from pg_settings where name = 'transaction_timeout'");
      const isLimited = known.rowCount === 1;
      const failure: unknown = await batch
        .transaction(async (client) => {
          await client.query('set local statement_timeout = 0');
          await client.query(`select pg_sleep(${isLimited ? 3_600 : 0})`);
        })
        .catch((caught: unknown) => caught);
      await batch.close();
      expect(failure instanceof StorageUnavailableError).to.equal(isLimited);
    });
  });
});
