-- Up Migration

-- Jobs live in one table per stage of their life, so that the hot table stays small and no frequent write maintains an index it
-- does not need (docs/adr/001):
--
--   job_awaiting   waits for other jobs or batches
--   job_scheduled  waits for a time
--   job_blocked    ready, but its concurrency key has no room
--   job            ready or running
--   job_history    done, failed or cancelled
--
-- Every unique key of these tables starts with the queue's id, so that they can be distributed by queue. There are no foreign
-- keys to `queue`: their triggers would make each enqueue a third slower, and queues are never deleted (retired instead).

create type job_state as enum ('scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'failed', 'cancelled');

create table queue (
  id integer generated always as identity primary key,
  name text not null unique,
  paused_at timestamptz,
  created_at timestamptz not null default now(),
  concurrency_limit integer,
  -- {"jobs", "periodMs", "burst"}
  rate_limit jsonb,
  -- The priorities other than 0 that its jobs have had. A scan that starts behind a cursor must know them (docs/adr/013).
  priorities smallint[] not null default '{}',
  -- A retired queue keeps its number, by which its history is found, but no longer counts towards the cap. It is still shown while
  -- it has unfinished jobs or consumers; housekeeping then ends its retirement.
  retired_at timestamptz,
  -- When housekeeping first saw it empty, without consumers and settings, if it still is.
  idle_since timestamptz,
  constraint queue_bounds check (
    (concurrency_limit is null or concurrency_limit between 1 and 1000000)
      and (rate_limit is null or (
        jsonb_typeof(rate_limit -> 'jobs') = 'number' and jsonb_typeof(rate_limit -> 'periodMs') = 'number'
          and jsonb_typeof(rate_limit -> 'burst') = 'number'
      ) is true)
  )
);

-- The maximum number of queues, as set by the last process that started with its own value; `enqueue()` reads it.
create table queue_cap (most integer not null);
insert into queue_cap (most) values (10000);

-- The tokens left to a queue with a rate limit. Claims from a limited queue lock its row. Separate from `queue`, which every claim
-- reads and almost nothing writes.
create table queue_bucket (
  queue_id integer primary key,
  tokens double precision not null,
  refilled_at timestamptz not null default now()
) with (fillfactor = 50);

create sequence job_seq as bigint;

-- Ready and running jobs. A claim changes only lease_until, started_at, server_id and attempt, and no index covers or is filtered
-- by these, so a claim is a heap-only update. The fill factor leaves every row of a page room for its second version: at 70, only
-- a third of the claims were heap-only.
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
  -- What only some jobs have: tags, batch, parents, keys, trace. Null for a plain job, which therefore pays for none of it.
  meta jsonb,
  primary key (queue_id, id),
  -- Padding rows (docs/adr/003) have negative queues. Only what could stop a claim is checked here, since every enqueue and every
  -- claim pays for it.
  constraint job_bounds check (priority between -100 and 100 and attempt <= 10000 or queue_id < 0)
) with (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index job_order on job (queue_id, priority, seq);
-- For jobs with a concurrency key, and for jobs of a batch. Plain jobs are in neither, and no claim changes `meta`.
create index job_concurrency_key on job (queue_id, (meta ->> 'concurrencyKey')) where meta ? 'concurrencyKey';
create index job_batch on job (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

-- Scheduled jobs. None is due before the transaction that scheduled it (docs/adr/013).
create table job_scheduled (
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
  meta jsonb,
  -- When its last attempt failed; null if it waits for its first.
  retried_at timestamptz,
  primary key (queue_id, id),
  constraint job_scheduled_bounds check (
    priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
      and run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z'
    or queue_id < 0
  )
) with (autovacuum_vacuum_scale_factor = 0.05);

create index job_scheduled_due on job_scheduled (queue_id, run_at);
create index job_scheduled_retried on job_scheduled (retried_at) where retried_at is not null;
create index job_scheduled_batch on job_scheduled (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

-- Jobs that wait for others. Afterwards they wait until `run_at` or for `delay_ms`, if given.
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
  primary key (queue_id, id),
  constraint job_awaiting_bounds check (
    priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
      and (run_at is null or run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z')
      and (delay_ms is null or delay_ms between 0 and 315360000000)
    or queue_id < 0
  )
) with (autovacuum_vacuum_scale_factor = 0.05);

create index job_awaiting_batch on job_awaiting (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

-- Ready jobs that wait until fewer jobs with their concurrency key are in `job`. So a claim checks no key, and a tenant with ten
-- thousand jobs never delays one with a single job (docs/adr/004).
create table job_blocked (
  queue_id integer not null,
  id uuid not null,
  seq bigint not null default nextval('job_seq'),
  created_at timestamptz not null default now(),
  run_at timestamptz,
  priority smallint not null default 0,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  past_attempts jsonb,
  meta jsonb,
  primary key (queue_id, id),
  constraint job_blocked_bounds check (
    (priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
      and jsonb_typeof(meta -> 'concurrencyKey') = 'string'
      and case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
        then (meta -> 'concurrencyLimit')::numeric between 1 and 10000 else false end) is true
    or queue_id < 0
  )
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index job_blocked_order on job_blocked (queue_id, (meta ->> 'concurrencyKey'), priority, seq);
create index job_blocked_batch on job_blocked (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

-- Finished jobs. One partition per state and day, so that retention drops tables and leaves no dead rows.
create table job_history (
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
  past_attempts jsonb,
  meta jsonb
) partition by list (state);

create table job_history_done partition of job_history for values in ('done') partition by range (finished_at);
create table job_history_failed partition of job_history for values in ('failed') partition by range (finished_at);
create table job_history_cancelled partition of job_history for values in ('cancelled') partition by range (finished_at);

create index job_history_id on job_history (id);
create index job_history_meta on job_history using gin (meta jsonb_path_ops) where meta is not null;
-- Block-range indexes: finishing a job does not write them. The first serves reads in the order of time (docs/adr/007); the second
-- searches of the current day by queue and name (docs/adr/008), with Bloom filters, because these have no order in time. Days that
-- have ended get better indexes from housekeeping.
create index job_history_finished on job_history using brin (finished_at) with (pages_per_range = 64);
create index job_history_origin on job_history using brin (
  queue_id int4_bloom_ops (n_distinct_per_range = 128),
  name text_bloom_ops (n_distinct_per_range = 64)
) with (pages_per_range = 4);

-- What attempts report while they run: line 0 is their progress, rewritten as it changes; the others are their log. Separate from
-- the job's row, so that a job without reports pays nothing, with one partition per day like history.
create table job_report (
  queue_id integer not null,
  job_id uuid not null,
  -- When the attempt started; two runs may have the same number if the first did not count.
  started_at timestamptz not null,
  line integer not null,
  attempt smallint not null,
  at timestamptz not null,
  level text,
  percent real,
  message text,
  fields jsonb,
  -- By the database's clock, for listeners (docs/adr/007).
  written_at timestamptz not null default now(),
  primary key (queue_id, job_id, started_at, line)
) partition by range (started_at);

create index job_report_written on job_report (written_at);

-- Changes of the number of jobs in a state, each written together with the change itself. Their sum is exact at any time and costs
-- the same with ten million jobs. Servers fold them every second.
create table job_count (
  queue_id integer not null,
  state job_state not null,
  jobs bigint not null,
  -- When it was written; null once folded.
  at timestamptz default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Finished jobs over time: per queue and minute, and of all queues (queue 0) per ten seconds. Written when counters are folded, so
-- finishing a job pays nothing for it; what has not been folded yet is read from the counters.
create table throughput (
  queue_id integer not null,
  at timestamptz not null,
  done bigint not null,
  failed bigint not null,
  primary key (queue_id, at)
) with (fillfactor = 50);

-- Requests to cancel running jobs, until they end. Separate from `job`, so that a cancellation waits for no row lock.
create table job_cancellation (
  queue_id integer not null,
  job_id uuid not null,
  requested_at timestamptz not null default now(),
  primary key (queue_id, job_id)
);

-- Positions in a queue's order that become visible late: a caller's transaction took them, and scans passed them before it
-- committed. Found by the transaction's id, so that no scan passes the dead entries of finished jobs again (docs/adr/013).
create table scan_gap (
  xid xid8 not null default pg_current_xact_id(),
  queue_id integer not null,
  priority smallint not null,
  first_seq bigint not null,
  last_seq bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index scan_gap_xid on scan_gap (xid);

-- Which job holds which key of its queue. Only enqueues with a key write it: a finished job leaves its row, and the next enqueue
-- with the key checks the job's state (docs/jobs/uniqueness.md). Housekeeping deletes rows that no longer matter.
create table job_key (
  queue_id integer not null,
  -- The job's name; '' for idempotency keys.
  namespace text collate "C" not null,
  key text collate "C" not null,
  job_id uuid not null,
  -- The states in which the job holds it; null for all.
  states job_state[],
  -- Null for never.
  expires_at timestamptz,
  -- The request that came with an idempotency key.
  fingerprint text,
  primary key (queue_id, namespace, key),
  constraint job_key_bounds check (
    expires_at is null or expires_at >= '1970-01-01T00:00:00Z' and expires_at < '10000-01-01T00:00:00Z'
  )
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

-- The queues to which jobs with keys were moved. A key stays in the queue in which its job was enqueued.
create table moved_job (
  job_id uuid primary key,
  queue_id integer not null
);

-- Dependencies: one row for each parent (a job or a batch) of a job. Enqueuing only inserts here and locks no parent. A resolver
-- marks the row and its parent, so that the parent's end is recorded in the outbox; its end resolves the dependency (docs/adr/006).
create table job_dependency (
  parent_id uuid not null,
  child_id uuid not null,
  -- The child's.
  queue_id integer not null,
  condition text not null check (condition in ('onDone', 'onFailed', 'onAny')),
  marked boolean not null,
  resolved_at timestamptz,
  primary key (parent_id, child_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index job_dependency_child on job_dependency (child_id);
create index job_dependency_open on job_dependency (parent_id) where resolved_at is null;
create index job_dependency_unmarked on job_dependency (child_id) where not marked;

-- Jobs that are counted together. The counters follow the jobs through the outbox.
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

-- A transactional outbox: state changes of jobs on which others depend (their batch, their dependents, jobs with the same
-- concurrency key), written together with the change and kept until their effects have been applied.
create table outbox (
  id bigint generated always as identity primary key,
  queue_id integer not null,
  job_id uuid not null,
  from_state job_state not null,
  to_state job_state not null,
  meta jsonb not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
