import { unnamed } from '../connection/statement.js';

/**
 * Creates a function that makes the planner of each node expect one queue to hold almost all jobs of a shard, as the
 * migrations do for tables that are not distributed (docs/adr/003). Without this, a node finds a batch of jobs by
 * reading all jobs of their queue. New shards, and shards that Citus moves, do not have this setting.
 */
export const createTuneShards = `
  create or replace function longshore.tune_shards() returns void language sql as $$
    select run_command_on_all_nodes($sql$
      do $node$
      declare
        shard regclass;
      begin
        perform set_config('citus.override_table_visibility', 'off', true);
        for shard in
          select pg_class.oid from pg_catalog.pg_class join pg_catalog.pg_attribute on attrelid = pg_class.oid
          where relnamespace = 'longshore'::regnamespace and relname ~ '^job(_scheduled|_awaiting|_blocked)?_[0-9]+$'
            and attname = 'queue_id' and not coalesce(attoptions @> '{n_distinct=1}', false) and relkind = 'r'
        loop
          execute format('alter table %s alter column queue_id set (n_distinct = 1)', shard);
          execute format('analyze %s', shard);
        end loop;
      end
      $node$
    $sql$)
  $$`;

/** Tunes the shards that have not been tuned since Citus created or moved them. */
export const tuneShards = unnamed('select longshore.tune_shards()::text');
