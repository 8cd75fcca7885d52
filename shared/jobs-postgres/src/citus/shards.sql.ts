import type { Statement } from '../connection/statement.js';

/**
 * Creates a function that makes the planner of each node expect one queue to hold almost all jobs of a shard, as the
 * migrations do for tables that are not distributed (docs/adr/003). Without this, a node finds a batch of jobs by
 * reading all jobs of their queue. Citus does not copy this setting, neither to new shards nor to shards that it moves.
 */
export const createTuneShards = `
  create or replace function longshore.tune_shards() returns void language plpgsql as $$
  declare
    relation text;
  begin
    foreach relation in array array['job', 'job_scheduled', 'job_awaiting', 'job_blocked'] loop
      perform run_command_on_shards(('longshore.' || relation)::regclass, $sql$
        do $shard$ begin
          if not exists (
            select from pg_catalog.pg_attribute
            where attrelid = '%1$s'::regclass and attname = 'queue_id' and attoptions @> '{n_distinct=1}'
          ) then
            alter table %1$s alter column queue_id set (n_distinct = 1);
            analyze %1$s;
          end if;
        end $shard$
      $sql$);
    end loop;
  end
  $$`;

/** Tunes the shards that have not been tuned since Citus created or moved them. */
export const tuneShards: Statement = { text: 'select longshore.tune_shards()::text' };
