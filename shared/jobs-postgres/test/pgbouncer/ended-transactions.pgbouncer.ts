import { TransactionEndedError } from '@longshore/jobs';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { Database } from '../../src/connection/database.js';
import { databaseOptions } from '../../src/connection/options.js';
import { unnamed } from '../../src/connection/statement.js';
import { createStoreDatabase } from '../support/store-database.js';
import { type PgBouncer, startPgBouncer } from './pgbouncer.js';

describe('A transaction behind pgbouncer that the handler ends', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let pooled: Database;

  before(async () => {
    database = await createStoreDatabase();
    await database.query('create table stored (text text)');
    pooler = await startPgBouncer(database.url);
    pooled = new Database(
      databaseOptions({ url: pooler.urlOf(database.url), ...patientStorage, pooler: 'transaction' }),
    );
  });

  after(async () => {
    await pooled.close();
    await pooler.stop();
    await database.drop();
  });

  for (const statements of ['commit', 'commit; begin', 'rollback and chain'])
    it(`with "${statements}" is an error, and stores nothing`, async () => {
      const lent = pooled.lend(
        async (connection) => {
          await connection.queryAndLend(unnamed('select 1'));
          await connection.client.query(statements);
          await connection.takeBackAndQuery(unnamed("insert into public.stored values ('')"));
        },
        { application_name: 'handler' },
      );
      const error: unknown = await lent.catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TransactionEndedError);
      expect(await database.query('select from stored')).to.deep.equal([]);
    });
});
