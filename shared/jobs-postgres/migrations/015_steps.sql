-- Up Migration

-- The steps of jobs, in the queues that their jobs are in. Attempts that are running write them, fenced by their leases. Steps are
-- deleted with their jobs; housekeeping deletes those of jobs whose history has been dropped.
create table job_step (
  queue_id integer not null,
  job_id uuid not null,
  name text collate "C" not null,
  kind text not null check (kind in ('step', 'sleep', 'wait', 'job', 'version')),
  state text not null check (state in ('waiting', 'done', 'failed', 'timed-out')),
  position integer not null,
  -- Null for the JSON value `null`, and while there is no result.
  result jsonb,
  error jsonb,
  -- Whether the error of a failed step is final: false if the next attempt runs the step again.
  is_remembered boolean not null,
  attempts integer not null,
  -- The end of a sleep or wait, or the time of the next attempt of the step; null for none.
  until timestamptz,
  -- How many signals it waits for; null if it waits for none.
  signals integer,
  -- The job that it waits for; null if it waits for none.
  child_id uuid,
  -- A fingerprint of the input; null if it was given none.
  input text,
  job_attempt smallint not null,
  server_id uuid not null,
  started_at timestamptz not null,
  -- Null while it waits.
  finished_at timestamptz,
  primary key (queue_id, job_id, name)
) with (
  fillfactor = 90,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

-- The signals that jobs have received, in the queues that the jobs are in. Kept until the jobs are deleted.
create table job_signal (
  queue_id integer not null,
  job_id uuid not null,
  name text collate "C" not null,
  id text collate "C" not null,
  data jsonb not null,
  at timestamptz not null default clock_timestamp(),
  sent_by text,
  bytes integer not null generated always as (octet_length(data::text)) stored,
  primary key (queue_id, job_id, name, id)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

-- The planner expects that one queue may hold almost all rows, as for the tables of jobs (docs/adr/003).
alter table job_step alter column queue_id set (n_distinct = 1);
alter table job_signal alter column queue_id set (n_distinct = 1);

-- Stores a signal for a job that is in the queue `number`. Returns `stored`; `known` if the job has a signal of this name and id
-- already; or `full` if it has 10,000 signals, or their data takes 16 MiB, as each attempt reads all of them. Signals of Longshore are not
-- counted. Signals that are sent at the same time can exceed the bounds: this function locks no job, because a signal may be part of a
-- long transaction. A server wakes the job when the transaction has been committed, if it is suspended and now has all signals that it
-- waits for.
create function store_signal(number integer, job_id uuid, name text, id text, data jsonb, sent_by text)
returns text language plpgsql as $$
declare
  full_already boolean;
begin
  select count(*) >= 10000 or sum(kept.bytes) >= 16777216 into full_already from longshore.job_signal as kept
  where kept.queue_id = number and kept.job_id = store_signal.job_id and not starts_with(kept.name, 'job:');
  if full_already and not exists (
    select from longshore.job_signal as kept
    where kept.queue_id = number and kept.job_id = store_signal.job_id and kept.name = store_signal.name and kept.id = store_signal.id
  ) then
    return 'full';
  end if;
  insert into longshore.job_signal as stored (queue_id, job_id, name, id, data, sent_by)
  values (number, store_signal.job_id, store_signal.name, store_signal.id, store_signal.data, store_signal.sent_by)
  on conflict on constraint job_signal_pkey do nothing;
  if not found then
    return 'known';
  end if;
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  values (number, store_signal.job_id, 'processing', 'processing', '{"signalled": true}');
  return 'stored';
end
$$;

-- Like store_signal(), for signals from SQL. Returns whether the signal is new, and raises an error if the job has too many.
create function add_signal(number integer, job_id uuid, name text, id text, data jsonb)
returns boolean language plpgsql as $$
declare
  became text := longshore.store_signal(number, add_signal.job_id, add_signal.name, add_signal.id, add_signal.data, null);
begin
  if became = 'full' then
    raise program_limit_exceeded using
      message = format('the job %s has 10000 signals, or their data takes 16777216 bytes, so it accepts no more', add_signal.job_id),
      hint = 'Let the handler wait for fewer signals, or split the job with enqueueAndWait.';
  end if;
  return became = 'stored';
end
$$;

-- Sends a signal from SQL in the caller's transaction, to an unfinished job. Returns how many jobs it reached: 1, or 0 if there is no
-- unfinished job with this id. `id` identifies the signal among those of its name to this job: a repeated one changes nothing.
create function signal(job_id uuid, name text, data jsonb default 'null', id text default null)
returns integer language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  number integer;
begin
  perform longshore.check_signal(signal.name, signal.data, signal.id);
  select found.queue_id into number from longshore.queue cross join lateral (
    select live.queue_id from longshore.job as live where live.queue_id = queue.id and live.id = signal.job_id
    union all select live.queue_id from longshore.job_scheduled as live where live.queue_id = queue.id and live.id = signal.job_id
    union all select live.queue_id from longshore.job_blocked as live where live.queue_id = queue.id and live.id = signal.job_id
    union all select live.queue_id from longshore.job_awaiting as live where live.queue_id = queue.id and live.id = signal.job_id
  ) as found limit 1;
  if number is null then
    return 0;
  end if;
  if longshore.add_signal(number, signal.job_id, signal.name, coalesce(signal.id, longshore.new_id()::text), signal.data) then
    perform longshore.notify_on_commit('outbox');
  end if;
  return 1;
end
$$;

-- Like signal(), to all unfinished jobs that were enqueued with this key.
create function signal_correlated(correlate text, name text, data jsonb default 'null', id text default null)
returns integer language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target record;
  reached integer := 0;
  is_new boolean := false;
  signal_id text := coalesce(signal_correlated.id, longshore.new_id()::text);
begin
  perform longshore.check_signal(signal_correlated.name, signal_correlated.data, signal_correlated.id);
  for target in
    select found.queue_id, found.id from longshore.queue cross join lateral (
      select live.queue_id, live.id from longshore.job as live
      where live.queue_id = queue.id and live.meta ? 'correlate' and live.meta ->> 'correlate' = signal_correlated.correlate
      union all select live.queue_id, live.id from longshore.job_scheduled as live
      where live.queue_id = queue.id and live.meta ? 'correlate' and live.meta ->> 'correlate' = signal_correlated.correlate
      union all select live.queue_id, live.id from longshore.job_blocked as live
      where live.queue_id = queue.id and live.meta ? 'correlate' and live.meta ->> 'correlate' = signal_correlated.correlate
      union all select live.queue_id, live.id from longshore.job_awaiting as live
      where live.queue_id = queue.id and live.meta ? 'correlate' and live.meta ->> 'correlate' = signal_correlated.correlate
    ) as found order by found.queue_id, found.id
  loop
    reached := reached + 1;
    is_new := longshore.add_signal(target.queue_id, target.id, signal_correlated.name, signal_id, signal_correlated.data) or is_new;
  end loop;
  if is_new then
    perform longshore.notify_on_commit('outbox');
  end if;
  return reached;
end
$$;

-- Raises an error if a signal from SQL is out of bounds.
create function check_signal(name text, data jsonb, id text) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if check_signal.name is null or length(check_signal.name) not between 1 and 200 or starts_with(check_signal.name, 'job:') then
    raise invalid_parameter_value using message = 'the name of a signal must have 1 to 200 characters, and must not begin with job:';
  end if;
  if length(check_signal.id) not between 1 and 200 then
    raise invalid_parameter_value using message = 'the id of a signal must have 1 to 200 characters';
  end if;
  if check_signal.data is null or octet_length(check_signal.data::text) > 1048576 then
    raise invalid_parameter_value using message = 'the data of a signal must not be null, and must take at most 1048576 bytes as JSON';
  end if;
  if jsonb_path_exists(check_signal.data, 'strict $.**{101}') then
    raise invalid_parameter_value using message = 'the data of a signal is nested more than 100 levels deep';
  end if;
end
$$;
