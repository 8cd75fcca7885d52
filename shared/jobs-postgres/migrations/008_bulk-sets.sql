-- Up Migration

-- The set of jobs that the operation may change, as confirmed by the operator (docs/adr/028).
alter table bulk_operation
  -- Jobs created or finished after this time are not changed; null stands for the start of the operation.
  add column as_of timestamptz,
  -- For each finished state, the lowest id that may be changed; a state without an entry has no such limit.
  add column first_ids jsonb not null default '{}',
  -- The largest number of jobs that may be changed; null for no limit.
  add column most bigint,
  -- Whether to restore the dependents of retried jobs.
  add column dependents boolean not null default false,
  -- The operation changes nothing before this time.
  add column starts_at timestamptz not null default now();

-- The jobs that an operation has changed. There is no foreign key: checking it would take longer than the insert.
create table bulk_operation_job (
  operation_id uuid not null,
  job_id uuid not null,
  primary key (operation_id, job_id)
);
