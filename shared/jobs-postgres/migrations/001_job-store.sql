-- Up Migration

-- Jobs are split by life cycle, so that what is hot stays small and nothing that is written often carries an index it
-- does not need (docs/adr/001): `job_waiting` for a time, `job` ready and running, `job_done` finished.
-- Every unique key of these tables begins with the queue's id, so that they can be distributed by it.
-- There are no foreign keys to `queue`: their triggers would cost each enqueue a third, and queues are never deleted.

create type job_state as enum ('scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'failed', 'cancelled');

create table queue (
  id integer generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);

create sequence job_seq as bigint;

-- Ready and running jobs. A claim changes only lease_until, started_at, server_id and attempt: none of them is indexed or
-- filters an index, so a claim is a heap-only update; the fill factor leaves every row of a page room for its second version (at 70 only a third of the claims stayed heap-only).
create table job (
  queue_id integer not null,
  id uuid not null,
  seq bigint not null default nextval('job_seq'),
  created_at timestamptz not null default now(),
  ready_at timestamptz not null default now(),
  run_at timestamptz,
  lease_until timestamptz,
  started_at timestamptz,
  server_id uuid,
  priority smallint not null default 0,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  past_attempts jsonb,
  primary key (queue_id, id)
) with (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index job_line on job (queue_id, priority, seq);

-- Jobs that wait for a time.
create table job_waiting (
  queue_id integer not null,
  id uuid not null,
  created_at timestamptz not null default now(),
  run_at timestamptz not null,
  priority smallint not null default 0,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  past_attempts jsonb,
  primary key (queue_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);

create index job_waiting_due on job_waiting (queue_id, run_at);

-- History. One partition a state and day, so that retention drops tables and leaves no dead rows.
create table job_done (
  queue_id integer not null,
  id uuid not null,
  created_at timestamptz not null,
  ready_at timestamptz,
  run_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz not null default now(),
  server_id uuid,
  state job_state not null,
  priority smallint not null,
  attempt smallint not null,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  result jsonb,
  error jsonb,
  past_attempts jsonb
) partition by list (state);

create index job_done_id on job_done (id);

create table job_done_done partition of job_done for values in ('done') partition by range (finished_at);
create table job_done_failed partition of job_done for values in ('failed') partition by range (finished_at);
create table job_done_cancelled partition of job_done for values in ('cancelled') partition by range (finished_at);

-- Changes of the number of jobs in a state, each written with the change itself; a sum over them is exact at any instant
-- and costs the same at ten million jobs. The servers fold them together every second.
create table job_count (
  queue_id integer not null,
  state job_state not null,
  jobs bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create table server (
  id uuid primary key,
  host text not null,
  pid integer not null,
  queues text[] not null,
  concurrency integer not null,
  processing integer not null default 0,
  timeout_ms integer not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
) with (fillfactor = 50);

-- Makes the history's partitions from today to `days` days ahead. A partition is made apart and then attached, which
-- blocks neither readers nor writers of the others.
create function make_partitions(days integer) returns void language plpgsql as $$
declare
  status text;
  day date;
  part text;
begin
  -- One maker at a time, in every database with a lock of its own: job_done is the name of the lock.
  perform pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint);
  foreach status in array array['done', 'failed', 'cancelled'] loop
    for offset_days in -1 .. days loop
      day := (now() at time zone 'UTC')::date + offset_days;
      part := format('job_done_%s_%s', status, to_char(day, 'YYYYMMDD'));
      continue when to_regclass(format('longshore.%I', part)) is not null;
      execute format('create table longshore.%I (like longshore.job_done including defaults including constraints)', part);
      execute format(
        'alter table longshore.%I attach partition longshore.%I for values from (%L) to (%L)',
        'job_done_' || status, part, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
  end loop;
end
$$;

select make_partitions(3);
