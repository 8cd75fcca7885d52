/** The table that all other distributed tables are colocated with. */
const hotTable = 'job';

/**
 * Tables that are distributed by queue and colocated. A statement for one queue can therefore write and commit on a
 * single node. Partitions are distributed with their table.
 */
const distributedTables = [
  hotTable,
  'job_scheduled',
  'job_awaiting',
  'job_blocked',
  'job_history_done',
  'job_history_failed',
  'job_history_cancelled',
  'job_report',
  'job_count',
  'job_cancellation',
  'job_step',
  'job_signal',
  'job_key',
  'queue_bucket',
  'key_rate',
  'throughput',
  'outbox',
  'queue_node',
] as const;

/**
 * Tables that Citus copies to every node. Statements on all nodes read these tables, and few statements write them.
 * Citus locks the whole table for each write, so heartbeats and claims would deadlock if `server` were one of them.
 */
const referenceTables = ['queue', 'paused_type'] as const;

/** Reads whether the tables are distributed, and whether the Citus extension is installed. */
export const readDistribution = `
  select to_regclass('longshore.two_phase_commit') is not null as distributed,
    exists (select 1 from pg_catalog.pg_extension where extname = 'citus') as installed`;

/** Lets only one process at a time distribute the store. The session holds the advisory lock until it ends. */
export const lockDistribution = `select pg_advisory_lock(longshore.lock_key('two_phase_commit'))`;

/**
 * Prepares the tables for Citus. Unique keys must contain the distribution column, and ids must come from sequences on
 * the coordinator.
 */
const prepareTables = `
  alter table longshore.queue alter id drop identity;
  create sequence longshore.queue_id_seq as integer owned by longshore.queue.id;
  select setval('longshore.queue_id_seq', coalesce(max(id), 0) + 1, false) from longshore.queue;
  alter table longshore.queue alter id set default nextval('longshore.queue_id_seq');
  alter table longshore.outbox alter id drop identity;
  create sequence longshore.outbox_id_seq owned by longshore.outbox.id;
  select setval('longshore.outbox_id_seq', coalesce(max(id), 0) + 1, false) from longshore.outbox;
  alter table longshore.outbox alter id set default nextval('longshore.outbox_id_seq');
  alter table longshore.outbox drop constraint outbox_pkey, add primary key (queue_id, id);
  -- A row of each queue on the queue's node. Citus runs a statement there if it selects from a table that is distributed.
  create table longshore.queue_node (queue_id integer primary key);
  insert into longshore.queue_node (queue_id) select id from longshore.queue union select queue_id from longshore.job_count`;

const colocated = (table: string): string =>
  table === hotTable
    ? `select create_distributed_table('longshore.${table}', 'queue_id', colocate_with => 'none')`
    : `select create_distributed_table('longshore.${table}', 'queue_id', colocate_with => 'longshore.${hotTable}')`;

/** Statements that distribute the tables and copy existing rows to the nodes. Must run in one transaction. */
export const distributeTables: readonly string[] = [
  `set local citus.multi_shard_modify_mode to 'sequential'`,
  prepareTables,
  ...distributedTables.map(colocated),
  ...referenceTables.map((table) => `select create_reference_table('longshore.${table}')`),
  // Creates a table on the coordinator that Citus manages. Any write to this table makes Citus use two-phase commit.
  'create table longshore.two_phase_commit (id integer primary key)',
  `select citus_add_local_table_to_metadata('longshore.two_phase_commit')`,
];

/**
 * Selects the distributed and reference tables whose original rows are still on the coordinator. Only these tables are
 * cleaned up, because the cleanup locks the table.
 */
export const selectLocalRows = `
  select relation as name from unnest(array[${[...distributedTables, ...referenceTables].map((table) => `'${table}'`).join(', ')}]) as relation
  where exists (
    select 1 from pg_partition_tree(('longshore.' || relation)::regclass) as part where pg_relation_size(part.relid) > 0
  )`;

/** Returns a statement that deletes the original rows of a distributed table from the coordinator. */
export const deleteLocalRows = (table: string): string =>
  `select truncate_local_data_after_distributing_table('longshore.${table}')`;

/**
 * Reads the version of the Citus functions in the store, and the name of the last migration. A migration can replace
 * these functions, so they are installed again after every new migration.
 */
export const readFunctions = `
  select obj_description('longshore.two_phase_commit'::regclass) as version,
    (select name from longshore.migration order by id desc limit 1) as migration`;

export const noteFunctions = (version: string): string =>
  `comment on table longshore.two_phase_commit is '${version}'`;
