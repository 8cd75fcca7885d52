import { createCitusDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { tuneShards } from '../../src/maintain/shards.sql.js';
import { PostgresStorage } from '../../src/index.js';

interface Untuned {
  readonly shards: number;
}

describe('On Citus, the shards of unfinished jobs', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createCitusDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage, distribution: 'citus' });
    await storage.open();
    await storage.close();
  });
  after(() => database.drop());

  async function untuned(): Promise<number> {
    const perTable = ['job', 'job_scheduled', 'job_awaiting', 'job_blocked'].map(
      (table) => `
        select result from run_command_on_shards('longshore.${table}', $$
          select count(*) from pg_attribute
          where attrelid = '%s'::regclass and attname = 'queue_id' and not coalesce(attoptions @> '{n_distinct=1}', false)
        $$)`,
    );
    const [row] = await database.query<Untuned>(
      `select sum(result::integer)::integer as shards from (${perTable.join(' union all ')}) as results`,
    );
    return row?.shards ?? expect.fail('There is no result');
  }

  it('look up jobs by key, however few jobs the statistics show', async () => {
    expect(await untuned()).to.equal(0);
  });

  it('look up jobs by key after a move to another node, once they have been tuned again', async () => {
    await database.query(`
      select citus_move_shard_placement(shardid, nodename, nodeport, other.name, other.port, shard_transfer_mode => 'block_writes')
      from pg_dist_shard_placement
      cross join lateral (
        select node.nodename as name, node.nodeport as port from pg_dist_node as node
        where node.groupid <> 0 and (node.nodename, node.nodeport) <> (pg_dist_shard_placement.nodename, pg_dist_shard_placement.nodeport)
      ) as other
      where shardid = (select min(shardid) from pg_dist_shard where logicalrelid = 'longshore.job'::regclass)`);
    expect(await untuned()).to.equal(4);
    await database.query(tuneShards.text);
    expect(await untuned()).to.equal(0);
  });
});
