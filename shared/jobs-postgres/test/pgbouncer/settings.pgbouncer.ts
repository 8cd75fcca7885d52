import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { StorageUnavailableError } from '@longshore/jobs';
import { expect } from 'chai';
import { Database } from '../../src/connection/database.js';
import { databaseOptions } from '../../src/connection/options.js';
import { unnamed } from '../../src/connection/statement.js';
import { createStoreDatabase } from '../support/store-database.js';
import { type PgBouncer, startPgBouncer } from './pgbouncer.js';

describe('The settings of a statement behind pgbouncer', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let pooled: Database;

  before(async () => {
    database = await createStoreDatabase();
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

  const settings = {
    enable_seqscan: 'off',
    plan_cache_mode: 'force_generic_plan',
    statement_timeout: '5min',
    transaction_isolation: 'read committed',
  };

  for (const [name, value] of Object.entries(settings)) {
    it(`have ${name} = ${value}`, async () => {
      expect(await pooled.query(unnamed(`show ${name}`))).to.deep.equal([{ [name]: value }]);
    });
  }

  it('do not leak to the next user of the connection', async () => {
    await pooled.query(unnamed('select 1'));
    const plain = new Database(
      {
        ...databaseOptions({ url: pooler.urlOf(database.url), ...patientStorage, pooler: 'transaction' }),
        statementTimeoutMs: 0,
      },
      {},
    );
    const [row] = await plain.query(unnamed('show enable_seqscan'));
    await plain.close();
    expect(row).to.deep.equal({ enable_seqscan: 'on' });
  });
});

describe('A pgbouncer that cannot reach Postgres', () => {
  it('makes the storage unavailable', async () => {
    const database = await createStoreDatabase();
    const pooler = await startPgBouncer(database.url, ['query_wait_timeout = 1']);
    const away = new URL(pooler.urlOf(database.url));
    away.pathname = '/away';
    const pooled = new Database(
      databaseOptions({ url: away.href, ...patientStorage, pooler: 'transaction' }),
    );
    try {
      const error: unknown = await pooled.query(unnamed('select 1')).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(StorageUnavailableError);
      expect(error).to.have.nested.property('cause.code', '08P01');
    } finally {
      await pooled.close();
      await pooler.stop();
      await database.drop();
    }
  });
});
