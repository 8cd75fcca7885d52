-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- Jobs that wait for others. `run_at` or `delay_ms`, if given, is what they wait for after that.
create table job_awaiting (
  queue_id integer not null,
  id uuid not null,
  created_at timestamptz not null default now(),
  run_at timestamptz,
  delay_ms double precision,
  priority smallint not null default 0,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  meta jsonb,
  past_attempts jsonb,
  primary key (queue_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);

-- Ballast, as in job_waiting (docs/adr/003).
insert into job_awaiting (queue_id, id, name, max_attempts, args)
select -number, longshore.new_id(), 'ballast', 1, '{}' from generate_series(1, 500) as number;
alter table job_awaiting alter column queue_id set (n_distinct = 1);

-- Who waits, or waited, for whom: one row for each parent of a job; a parent is a job or a batch.
-- The enqueuer only inserts here and locks no parent. A settler marks the link, and with it the parent, so that the parent's
-- end will be noted in the outbox; the end settles the link (docs/adr/006).
create table job_link (
  parent_id uuid not null,
  child_id uuid not null,
  queue_id integer not null, -- the child's
  condition text not null check (condition in ('onDone', 'onFailed', 'onAny')),
  marked boolean not null,
  settled_at timestamptz,
  primary key (parent_id, child_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index job_link_child on job_link (child_id);
create index job_link_open on job_link (parent_id) where settled_at is null;
create index job_link_unmarked on job_link (child_id) where not marked;

-- Jobs that are counted together. The counters follow the jobs by way of the outbox.
create table batch (
  id uuid primary key,
  name text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  total integer not null,
  done integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  follow_up_id uuid
) with (fillfactor = 50);

-- To cancel a batch. A plain job is in none of these.
create index job_batch on job (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';
create index job_waiting_batch on job_waiting (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';
create index job_awaiting_batch on job_awaiting (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

analyze job_awaiting;
