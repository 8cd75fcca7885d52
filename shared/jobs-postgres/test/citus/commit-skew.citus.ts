import { defineJob, JobClient } from '@longshore/jobs';
import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../../src/index.js';

const work = defineJob({ name: 'work', queue: 'work', unique: { key: () => 'one' } });

/**
 * With Citus, the coordinator commits a transaction before the nodes do. In these tests, a node has prepared a
 * transaction but not yet committed it, as if the coordinator had crashed in between.
 */
describe('On Citus, while a transaction is not visible on all nodes,', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;

  beforeEach(async () => {
    database = await createCitusDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage, distribution: 'citus' });
    client = new JobClient(storage);
    await storage.open();
  });
  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  /** Prepares a transaction on a node, as Citus would. Returns a function that rolls it back. */
  async function prepared(): Promise<() => Promise<void>> {
    const [node] = await database.query<{ nodename: string; nodeport: number }>(
      'select nodename, nodeport from pg_dist_node where groupid > 0 order by groupid limit 1',
    );
    if (node === undefined) throw new Error('There is no worker node');
    const url = new URL(database.url);
    url.hostname = node.nodename;
    url.port = String(node.nodeport);
    const run = async (...statements: string[]): Promise<void> => {
      const connection = new pg.Client({ connectionString: url.href, application_name: 'test-support' });
      await connection.connect();
      for (const statement of statements) await connection.query(statement);
      await connection.end();
    };
    // The cluster has no coordinator with group id 99, so Citus does not end the transaction itself.
    await run('begin', 'select pg_current_xact_id()', `prepare transaction 'citus_99_1_1_1'`);
    return () => run(`rollback prepared 'citus_99_1_1_1'`);
  }

  it('a key whose holder seems to be gone is neither given to another job nor swept', async () => {
    const { id } = await client.enqueue(work, {});
    await database.query('delete from longshore.job where id = $1', [id]);
    const end = await prepared();
    const error = await client.enqueue(work, {}).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an.instanceOf(Error);
    await end();
    expect((await client.enqueue(work, {})).id).not.to.equal(id);
  });

  it('the effects of a job’s end wait', async () => {
    const parent = await client.enqueue(work, {});
    const child = await client.enqueue(
      defineJob({ name: 'child', queue: 'other' }),
      {},
      { after: { parents: [parent.id] } },
    );
    const end = await prepared();
    await storage.maintenance.resolveDependencies(100).catch(() => undefined);
    const [unmarked] = await database.query<{ marked: boolean }>(
      'select marked from longshore.job_dependency',
    );
    expect(unmarked).to.deep.equal({ marked: false });
    await end();
    await storage.maintenance.resolveDependencies(100);
    expect(await database.query('select marked from longshore.job_dependency')).to.deep.equal([
      { marked: true },
    ]);
    expect((await storage.jobs.find(child.id))?.state).to.equal('awaiting');
  });
});
