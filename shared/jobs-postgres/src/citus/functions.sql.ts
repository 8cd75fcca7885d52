import { skippedErrorName } from '@longshore/jobs/storage';
import { createTuneShards } from '../maintain/shards.sql.js';

/**
 * Returns the global ids of the Citus transactions that are prepared on worker nodes but not committed yet. Fails if a
 * node cannot be reached.
 */
const preparedOnNodes = `
  create or replace function longshore.prepared_on_nodes() returns text[] language plpgsql as $$
  declare
    answer record;
    ids text[] := '{}';
  begin
    for answer in
      select success, result from run_command_on_workers($sql$
        select coalesce(string_agg(gid, ','), '') from pg_catalog.pg_prepared_xacts
        where database = current_database() and starts_with(gid, 'citus_')
      $sql$)
    loop
      if not answer.success then
        raise exception using errcode = 'connection_failure', message = 'a worker node cannot be reached: ' || answer.result;
      end if;
      ids := ids || string_to_array(nullif(answer.result, ''), ',');
    end loop;
    return ids;
  end
  $$`;

/**
 * Returns the time at which the oldest pending Citus transaction was prepared on a worker node; null if none is
 * pending. Ignores unreachable nodes, and transactions that were prepared less than two seconds ago.
 */
const oldestPrepared = `
  create or replace function longshore.oldest_prepared() returns timestamptz language sql as $$
    select min(result::timestamptz) from run_command_on_workers($sql$
      select coalesce(min(prepared)::text, 'infinity') from pg_catalog.pg_prepared_xacts
      where database = current_database() and starts_with(gid, 'citus_') and prepared < now() - interval '2 seconds'
    $sql$) where success and result <> 'infinity'
  $$`;

/**
 * Waits until everything that was committed before the call is visible on all nodes. Fails with `lock_not_available`
 * after two seconds. Nodes usually commit within a millisecond after the coordinator. If the coordinator crashes in
 * between, Citus completes the commits later.
 */
const awaitCommits = `
  create or replace function longshore.await_commits() returns void language plpgsql as $$
  declare
    pending text[] := longshore.prepared_on_nodes();
    since timestamptz := clock_timestamp();
  begin
    while cardinality(pending) > 0 loop
      if clock_timestamp() > since + interval '2 seconds' then
        raise exception using errcode = 'lock_not_available', message = 'a transaction that was committed is not visible on all nodes yet';
      end if;
      perform pg_sleep(0.002);
      pending := array(select unnest(pending) intersect select unnest(longshore.prepared_on_nodes()));
    end loop;
  end
  $$`;

/**
 * Deletes and returns up to `most` rows of the outbox, queue by queue. Starts with the queue that has the oldest row,
 * and skips queues that another transaction has locked. Returns once everything that was written together with the rows
 * is visible on all nodes.
 */
const takeOutboxEntries = `
  create or replace function longshore.take_outbox_entries(most integer) returns table (
    id bigint, queue_id integer, job_id uuid, from_state longshore.job_state, to_state longshore.job_state, meta jsonb
  ) language plpgsql as $$
  #variable_conflict use_column
  declare
    place record;
    room bigint := most;
    taken bigint;
    waits boolean := false;
  begin
    for place in select outbox.queue_id as number from longshore.outbox group by outbox.queue_id order by min(outbox.id) loop
      exit when room <= 0;
      continue when not pg_try_advisory_xact_lock(longshore.lock_key('outbox', place.number));
      return query
        delete from longshore.outbox as entry
        where entry.queue_id = place.number and entry.id in (
          select first.id from longshore.outbox as first where first.queue_id = place.number order by first.id limit room
        )
        returning entry.id, entry.queue_id, entry.job_id, entry.from_state, entry.to_state, entry.meta;
      get diagnostics taken = row_count;
      room := room - taken;
      waits := waits or taken > 0;
    end loop;
    if waits then
      perform longshore.await_commits();
    end if;
  end
  $$`;

/** Locks unmarked dependencies, and returns them once their jobs are visible on all nodes. */
const takeUnmarkedDependencies = `
  create or replace function longshore.take_unmarked_dependencies(after uuid, most integer) returns table (
    parent_id uuid, child_id uuid, queue_id integer, condition text
  ) language plpgsql as $$
  #variable_conflict use_column
  begin
    return query
      select parent_id, child_id, queue_id, condition from longshore.job_dependency
      where not marked and child_id > after
      order by child_id limit most
      for update skip locked;
    if found then
      perform longshore.await_commits();
    end if;
  end
  $$`;

/** Returns the states of the given jobs. Omits jobs that are in none of the given queues. */
const statesOfJobs = `
  create or replace function longshore.states_of(queues integer[], jobs uuid[]) returns table (job_id uuid, state longshore.job_state)
  language plpgsql as $$
  #variable_conflict use_column
  begin
    return query select id, state from (
      select queue_id, id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state
      from longshore.job where queue_id = any (queues) and id = any (jobs)
      union all select queue_id, id, 'enqueued' from longshore.job_blocked where queue_id = any (queues) and id = any (jobs)
      union all select queue_id, id, 'scheduled' from longshore.job_scheduled where queue_id = any (queues) and id = any (jobs)
      union all select queue_id, id, 'awaiting' from longshore.job_awaiting where queue_id = any (queues) and id = any (jobs)
      union all select queue_id, id, state from longshore.job_history where queue_id = any (queues) and id = any (jobs)
    ) as found;
  end
  $$`;

/**
 * Prevents jobs from moving to another queue until the transaction ends. Locks the jobs' rows in `moved_job`, and waits
 * for moves that are being committed. A job that is being moved for the first time has no row to lock, so the caller
 * must search again after the call.
 */
const blockMoves = `
  create or replace function longshore.hold_moves(jobs uuid[]) returns void language plpgsql as $$
  begin
    perform 1 from longshore.moved_job where job_id = any (jobs) order by job_id for update;
    perform longshore.await_commits();
  end
  $$`;

const sweepUnique = `
  create or replace function longshore.sweep_unique(after_queue integer, after_namespace text, after_key text, most integer)
  returns table (queue_id integer, namespace text, key text, stale boolean) language plpgsql as $$
  #variable_conflict use_column
  declare
    held record;
    missing uuid[] := '{}';
    queues integer[];
    jobs uuid[];
    states jsonb;
    seen jsonb;
    is_stale boolean;
    pass integer := 1;
  begin
    select coalesce(jsonb_agg(to_jsonb(first)), '[]'), coalesce(array_agg(first.job_id), '{}') into seen, jobs
    from (
      select held.queue_id, held.namespace, held.key, held.job_id, held.states, held.expires_at
      from longshore.job_key as held
      where (held.queue_id, held.namespace, held.key) > (after_queue, after_namespace, after_key)
      order by held.queue_id, held.namespace, held.key limit most
    ) as first;
    loop
      select coalesce(array_agg(distinct place), '{}') into queues from (
        select (one ->> 'queue_id')::integer as place from jsonb_array_elements(seen) as one
        union all select moved.queue_id from longshore.moved_job as moved where moved.job_id = any (jobs)
      ) as places;
      select coalesce(jsonb_object_agg(found.job_id, found.state), '{}') into states from longshore.states_of(queues, jobs) as found;
      select coalesce(array_agg((one ->> 'job_id')::uuid), '{}') into missing
      from jsonb_array_elements(seen) as one where not states ? (one ->> 'job_id');
      exit when pass = 2 or cardinality(missing) = 0;
      perform longshore.hold_moves(missing);
      pass := 2;
    end loop;
    for held in
      select one ->> 'namespace' as namespace, one ->> 'key' as key, (one ->> 'queue_id')::integer as queue_id,
        (one ->> 'job_id')::uuid as job_id, (one ->> 'expires_at')::timestamptz as expires_at,
        jsonb_typeof(one -> 'states') = 'array' as has_states, one -> 'states' as states
      from jsonb_array_elements(seen) as one
    loop
      is_stale := coalesce(held.expires_at <= now(), false) or held.has_states and coalesce(
        states ->> held.job_id::text = 'done' and not held.states ? 'done', not states ? held.job_id::text);
      if is_stale then
        delete from longshore.job_key as old
        where old.queue_id = held.queue_id and old.namespace = held.namespace and old.key = held.key
          and old.job_id = held.job_id and old.expires_at is not distinct from held.expires_at;
      end if;
      queue_id := held.queue_id;
      namespace := held.namespace;
      key := held.key;
      stale := is_stale;
      return next;
    end loop;
  end
  $$`;

const deleteGoneMovedJobs = `
  create or replace function longshore.delete_gone_moved_jobs(most integer) returns void language plpgsql as $$
  declare
    jobs uuid[];
    queues integer[];
    pass integer := 1;
  begin
    select coalesce(array_agg(job_id), '{}'), coalesce(array_agg(distinct queue_id), '{}') into jobs, queues from longshore.moved_job;
    loop
      select coalesce(array_agg(gone.id), '{}') into jobs
      from (select id from unnest(jobs) as id where id not in (select job_id from longshore.states_of(queues, jobs)) limit most) as gone;
      exit when pass = 2 or cardinality(jobs) = 0;
      perform longshore.hold_moves(jobs);
      select coalesce(array_agg(distinct queue_id), '{}') into queues from longshore.moved_job where job_id = any (jobs);
      pass := 2;
    end loop;
    delete from longshore.moved_job where job_id = any (jobs);
  end
  $$`;

/**
 * Replaces the function that notifies servers when a caller's transaction commits. Postgres cannot prepare a
 * transaction that has sent a notification, so servers find its jobs by polling. The replacement deletes no rows; it
 * only makes Citus commit the transaction on all nodes or on none.
 */
const notifyOnCommit = `
  create or replace function longshore.notify_on_commit(kinds text default 'ready due outbox') returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
  begin
    delete from longshore.two_phase_commit;
  end
  $$`;

/**
 * Returns the holders of keys, like the single-node statement. A holder that cannot be found might be moving. The
 * function then waits for moves that are being committed, and searches again. After that, `moved_job` shows whether the
 * holder has moved.
 */
const holdersOf = `
  create or replace function longshore.holders_of(number integer, jobs uuid[], ends boolean[]) returns table (
    id uuid, state longshore.job_state, moved_to integer
  ) language plpgsql as $$
  #variable_conflict use_column
  declare
    found_jobs jsonb;
    again boolean := false;
  begin
    loop
      select coalesce(jsonb_object_agg(job_id, state), '{}') into found_jobs from longshore.states_of(array[number], jobs);
      return query
        select holder.id, (found_jobs ->> holder.id::text)::longshore.job_state, moved.queue_id
        from unnest(jobs) as holder (id) left join longshore.moved_job as moved
          on moved.job_id = holder.id and not found_jobs ? holder.id::text
        where again and (found_jobs ? holder.id::text or moved.queue_id is not null);
      exit when again;
      if not exists (select 1 from unnest(jobs) as holder (id) where not found_jobs ? holder.id::text) then
        return query select holder.id, (found_jobs ->> holder.id::text)::longshore.job_state, null::integer from unnest(jobs) as holder (id);
        exit;
      end if;
      perform longshore.await_commits();
      again := true;
    end loop;
  end
  $$`;

/**
 * Replaces the function of the same name in the migrations. If the job that holds the key is moving to another queue,
 * waits for the move and finds the job in the new queue.
 */
const keyHolderState = `
  create or replace function longshore.key_holder_state(number integer, holder uuid) returns longshore.job_state language plpgsql as $$
  declare
    place integer := number;
    found_state longshore.job_state;
    moved_to integer;
  begin
    loop
      select found.state, found.moved_to into found_state, moved_to
      from longshore.holders_of(place, array[holder], array[true]) as found;
      exit when found_state is not null or moved_to is null or moved_to = place;
      place := moved_to;
    end loop;
    return found_state;
  end
  $$`;

/**
 * Finds what the recursive query of `restoreSkipped` finds, one generation of dependents at a time: only jobs in the
 * queues with these names; in all queues if the names are null.
 */
const skippedBecauseOf = `
  create or replace function longshore.skipped_because_of(parents uuid[], visible_queues text[]) returns table (id uuid, is_batch boolean)
  language plpgsql as $$
  #variable_conflict use_column
  declare
    visible_places integer[] := array(select queue.id from longshore.queue where queue.name = any (visible_queues));
    generation uuid[] := parents;
    seen uuid[] := parents;
    children uuid[];
    jobs uuid[];
    batches uuid[];
  begin
    return query select parent, null::boolean from unnest(parents) as parent;
    while cardinality(generation) > 0 loop
      select coalesce(array_agg(distinct child_id), '{}') into children from longshore.job_dependency where parent_id = any (generation);
      select coalesce(array_agg(id), '{}'), coalesce(array_agg(distinct batch_id) filter (where batch_id is not null), '{}')
      into jobs, batches
      from (
        select id, (meta ->> 'batchId')::uuid as batch_id from longshore.job_history_cancelled
        where id = any (children) and attempt = 0 and error ->> 'name' = '${skippedErrorName}'
          and (visible_queues is null or queue_id = any (visible_places))
      ) as skipped;
      return query select job, false from unnest(jobs) as job where job <> all (seen);
      return query select batch, true from unnest(batches) as batch where batch <> all (seen);
      select coalesce(array_agg(distinct next), '{}') into generation from unnest(jobs || batches) as next where next <> all (seen);
      seen := seen || generation;
    end loop;
  end
  $$`;

/** Like the function in the migrations. When it creates a queue, it also inserts a row on the queue's node. */
const queueNumber = `
  create or replace function longshore.queue_number(queue text, max_queues integer default null) returns integer language plpgsql as $$
  declare
    number integer;
  begin
    select id into number from longshore.queue as found where found.name = queue_number.queue and retired_at is null;
    if number is null and (select count(*) from longshore.queue where retired_at is null)
      < coalesce(queue_number.max_queues, (select cap.max_queues from longshore.queue_cap as cap)) then
      insert into longshore.queue as found (name) values (queue_number.queue)
      on conflict (name) do update set retired_at = null, idle_since = null
      returning id into number;
      insert into longshore.queue_node (queue_id) values (number) on conflict do nothing;
    end if;
    return number;
  end
  $$`;

/** Summarizes new rows in the time indexes (BRIN) of the given partitions, on all nodes. */
const summarizeTimes = `
  create or replace function longshore.summarize_times(parts text[]) returns void language plpgsql as $$
  declare
    part text;
  begin
    foreach part in array parts loop
      if to_regclass('longshore.' || part) is not null then
        perform run_command_on_shards(('longshore.' || part)::regclass, $sql$
          select count(brin_summarize_new_values(indexrelid)) from pg_catalog.pg_index
          join pg_catalog.pg_class on pg_class.oid = indexrelid join pg_catalog.pg_am on pg_am.oid = relam
          where indrelid = '%s'::regclass and amname = 'brin'
        $sql$);
      end if;
    end loop;
  end
  $$`;

/**
 * Locks failed and cancelled jobs, queue by queue, and returns their ids. The locks prevent retries. Skips jobs that
 * are already locked.
 */
const lockUnsuccessful = `
  create or replace function longshore.lock_unsuccessful(jobs uuid[]) returns setof uuid language plpgsql as $$
  declare
    place integer;
  begin
    for place in
      select queue_id from longshore.job_history_failed where id = any (jobs)
      union select queue_id from longshore.job_history_cancelled where id = any (jobs)
      order by 1
    loop
      return query
        select id from longshore.job_history_failed where queue_id = place and id = any (jobs) order by id for key share skip locked;
      return query
        select id from longshore.job_history_cancelled where queue_id = place and id = any (jobs) order by id for key share skip locked;
    end loop;
  end
  $$`;

/**
 * SQL that creates the functions on the coordinator. Some replace functions from the migrations; the Citus forms call
 * the others.
 */
export const citusFunctions: readonly string[] = [
  preparedOnNodes,
  oldestPrepared,
  awaitCommits,
  takeOutboxEntries,
  takeUnmarkedDependencies,
  statesOfJobs,
  blockMoves,
  sweepUnique,
  deleteGoneMovedJobs,
  summarizeTimes,
  queueNumber,
  holdersOf,
  keyHolderState,
  lockUnsuccessful,
  skippedBecauseOf,
  notifyOnCommit,
  createTuneShards,
];
