-- Up Migration

-- Which job holds which key of its queue. Written by those who enqueue with a key, and by nobody else: a job that ends leaves its
-- row, and whoever comes next with the key looks at the job's state (docs/jobs/uniqueness.md). Housekeeping deletes rows that mean nothing any more.
create table job_unique (
  queue_id integer not null,
  -- A job's name; '' for idempotency keys.
  scope text collate "C" not null,
  key text collate "C" not null,
  job_id uuid not null,
  -- In which states of the job it is held; null for whatever becomes of it.
  states job_state[],
  -- Null for no end.
  expires_at timestamptz,
  -- What was asked for with an idempotency key.
  fingerprint text,
  primary key (queue_id, scope, key)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
