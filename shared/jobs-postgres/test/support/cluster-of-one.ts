import pg from 'pg';
import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { PostgresStorage } from '../../src/index.js';

/**
 * What a Citus cluster provides, for a single Postgres that stores everything itself: the second forms of statements are
 * plain SQL. This does not show which statements a cluster could not run.
 */
const functions = `
  set allow_system_table_mods = on;
  insert into pg_catalog.pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    select 1, 'citus', extowner, extnamespace, false, 'none' from pg_catalog.pg_extension where extname = 'plpgsql';
  create function pg_catalog.create_distributed_table(name text, distributed_by text, colocate_with text) returns void
    language sql as '';
  create function pg_catalog.create_reference_table(name text) returns void language sql as '';
  create function pg_catalog.citus_add_local_table_to_metadata(name text) returns void language sql as '';
  create function pg_catalog.truncate_local_data_after_distributing_table(name text) returns void language sql as '';
  create function pg_catalog.citus_relation_size(relation regclass) returns bigint
    language sql as 'select pg_catalog.pg_relation_size(relation)';
  create function pg_catalog.run_command_on_workers(command text, out success boolean, out result text)
    returns setof record language sql as 'select true, null::text where false';
  create function pg_catalog.run_command_on_shards(relation regclass, command text) returns void language sql as '';
  create function pg_catalog.run_command_on_all_nodes(command text) returns void language sql as ''`;

/** Creates a database with the tables and functions of a store that is distributed over a cluster of a single node. */
export function createClusterOfOne(): Promise<TestDatabase> {
  return createTestDatabase(distributed);
}

async function distributed(url: string): Promise<void> {
  await open(url, 'none');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(functions);
  await client.end();
  await open(url, 'citus');
}

async function open(url: string, distribution: 'none' | 'citus'): Promise<void> {
  const storage = new PostgresStorage({ url, ...patientStorage, distribution });
  await storage.open();
  await storage.close();
}
