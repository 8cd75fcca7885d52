import { inTransaction } from '@longshore/resources';
import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';

describe('A transaction', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  before(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    await database.query('create table note (text text)');
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  const fail = (sqlstate: string): string => `do $$ begin raise sqlstate '${sqlstate}'; end $$`;

  for (const sqlstate of ['40001', '40P01']) {
    it(`runs again after ${sqlstate}, and only the last run counts`, async () => {
      let runs = 0;
      await inTransaction(pool, async (transaction) => {
        runs += 1;
        await transaction.query('insert into note values ($1)', [`${sqlstate} ${runs}`]);
        if (runs < 3) await transaction.query(fail(sqlstate));
      });
      expect(
        await database.query('select text from note where text like $1', [`${sqlstate}%`]),
      ).to.deep.equal([{ text: `${sqlstate} 3` }]);
    });
  }

  it('gives up after four runs', async () => {
    let runs = 0;
    const error = await inTransaction(pool, async (transaction) => {
      runs += 1;
      await transaction.query(fail('40001'));
    }).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', '40001');
    expect(runs).to.equal(4);
  });

  it('does not run again after other errors, and leaves nothing', async () => {
    let runs = 0;
    await inTransaction(pool, async (transaction) => {
      runs += 1;
      await transaction.query("insert into note values ('lost')");
      throw new Error('no');
    }).catch(() => {});
    expect(runs).to.equal(1);
    expect(await database.query("select 1 from note where text = 'lost'")).to.deep.equal([]);
  });

  it('fails if the work swallowed the error of a statement', async () => {
    const error: unknown = await inTransaction(pool, async (transaction) => {
      await transaction.query("insert into note values ('unheard')");
      await transaction.query(fail('23505')).catch(() => undefined);
    }).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('it was rolled back');
    expect(await database.query("select 1 from note where text = 'unheard'")).to.deep.equal([]);
  });

  it('is READ COMMITTED regardless of the default of the database', async () => {
    await database.query(
      `alter database ${database.name} set default_transaction_isolation = 'serializable'`,
    );
    const fresh = new pg.Pool({ connectionString: database.url, max: 1 });
    const level = await inTransaction(fresh, (transaction) =>
      transaction.query('show transaction_isolation'),
    );
    await fresh.end();
    expect(level.rows).to.deep.equal([{ transaction_isolation: 'read committed' }]);
  });
});
