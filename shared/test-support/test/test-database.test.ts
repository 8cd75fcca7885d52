import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';

let migrations = 0;

async function migrate(url: string): Promise<void> {
  migrations += 1;
  const client = new pg.Client(url);
  await client.connect();
  await client.query('create table thing (name text)');
  await client.end();
}

describe('createTestDatabase', () => {
  const databases: TestDatabase[] = [];
  const create = async (...args: Parameters<typeof createTestDatabase>): Promise<TestDatabase> => {
    const database = await createTestDatabase(...args);
    databases.push(database);
    return database;
  };
  afterEach(() => Promise.all(databases.splice(0).map((database) => database.drop())));

  it('returns an empty database', async () => {
    const database = await create();
    expect(await database.query("select from pg_tables where schemaname = 'public'")).to.be.empty;
  });

  it('returns a separate clone to each caller', async () => {
    const [one, other] = [await create(migrate), await create(migrate)];
    await one.query('insert into thing values ($1)', ['mine']);
    expect(await other.query('select name from thing')).to.deep.equal([]);
  });

  it('migrates once, however many callers there are', async () => {
    await Promise.all([create(migrate), create(migrate), create(migrate)]);
    expect(migrations).to.equal(1);
  });

  it('removes a database that is dropped', async () => {
    const [watcher, gone] = [await create(), await createTestDatabase()];
    await gone.drop();
    expect(await watcher.query('select from pg_database where datname = $1', [gone.name])).to.be.empty;
  });

  it('fails when a connection is left open, and names its last statement', async () => {
    const database = await createTestDatabase();
    const leak = new pg.Client(database.url);
    leak.on('error', () => undefined);
    await leak.connect();
    await leak.query('select 1 as forgotten');
    const error = await database.drop(3).catch((refusal: unknown) => refusal);
    expect(error)
      .to.have.property('message')
      .that.matches(/left open.*select 1 as forgotten.*test-database\.test/s);
    await leak.end();
  });
});
