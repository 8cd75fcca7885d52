-- Up Migration

-- Jobs are split by life cycle, so that what is hot stays small and nothing that is written often carries an index it
-- does not need (docs/adr/001): `job_waiting` for a time, `job` ready and running, `job_done` finished.
-- Every unique key of these tables begins with the queue's id, so that they can be distributed by it.
-- There are no foreign keys to `queue`: their triggers would cost each enqueue a third, and queues are never deleted.

create type job_state as enum ('scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'failed', 'cancelled');

create table queue (
  id integer generated always as identity primary key,
  name text not null unique,
  paused_at timestamptz,
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

-- Running jobs that somebody cancelled, until they end. Apart from `job`, so that a cancellation waits for no row lock.
create table job_cancellation (
  queue_id integer not null,
  job_id uuid not null,
  requested_at timestamptz not null default now(),
  primary key (queue_id, job_id)
);

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

-- A UUIDv7 (RFC 9562 § 5.7): a random version 4 with the milliseconds and the version written over its beginning.
create function new_id() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- Enqueues a job from SQL, in the caller's transaction; for triggers, other languages and psql. Servers find it at their
-- next look, within 200 ms of the commit. The arguments are checked by nobody.
create function enqueue(
  name text,
  args jsonb default '{}',
  queue text default 'default',
  priority integer default 0,
  max_attempts integer default 10,
  run_at timestamptz default null
) returns uuid language plpgsql as $$
declare
  job_id uuid := longshore.new_id();
  number integer;
begin
  if enqueue.name is null or enqueue.name !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" cannot name a job', enqueue.name);
  end if;
  if enqueue.queue is null or enqueue.queue !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" cannot name a queue', enqueue.queue);
  end if;
  if enqueue.args is null or enqueue.max_attempts not between 1 and 1000 then
    raise invalid_parameter_value using message = 'args must not be null, and max_attempts is 1 to 1000';
  end if;
  select id into number from longshore.queue where queue.name = enqueue.queue;
  if number is null then
    insert into longshore.queue (name) values (enqueue.queue) on conflict do nothing;
    select id into strict number from longshore.queue where queue.name = enqueue.queue;
  end if;
  if enqueue.run_at is null then
    insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
    values (number, job_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args);
  else
    insert into longshore.job_waiting (queue_id, id, name, priority, max_attempts, args, run_at)
    values (number, job_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, enqueue.run_at);
  end if;
  insert into longshore.job_count (queue_id, state, jobs)
  values (number, case when enqueue.run_at is null then 'enqueued' else 'scheduled' end::longshore.job_state, 1);
  return job_id;
end
$$;
