-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- What only some jobs carry: tags, the batch, the jobs they wait for, keys, the trace. Null in the plain job, which so pays
-- for none of it: nothing here is looked at unless it is there.
alter table job add column meta jsonb;
alter table job_waiting add column meta jsonb;
alter table job_done add column meta jsonb;

create index job_done_meta on job_done using gin (meta jsonb_path_ops) where meta is not null;

-- Moves of jobs on which others depend (its batch, the jobs that wait for it, those that share its concurrency key), written
-- with the move itself and kept until their consequences have been drawn: a transactional outbox, which survives every crash.
create table outbox (
  id bigint generated always as identity primary key,
  queue_id integer not null,
  job_id uuid not null,
  from_state job_state not null,
  to_state job_state not null,
  meta jsonb not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
