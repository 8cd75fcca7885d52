-- Up Migration

-- Returns the key of an advisory lock. A hash of the schema and the purpose, because an application that shares the database
-- may use small numbers, oids and pairs of integers as keys of its own.
create function lock_key(purpose text, item bigint default 0) returns bigint language sql immutable parallel safe
return hashtextextended('longshore.' || purpose, item);

-- Each stage of a job's life has its own table, so that the hot table stays small and its frequent writes have few
-- indexes to update (docs/adr/001):
--
--   job_awaiting   waits for other jobs or batches
--   job_scheduled  waits for a time
--   job_blocked    ready, but its concurrency key is at its limit
--   job            ready or running
--   job_history_done, job_history_failed, job_history_cancelled
--
-- Every unique key of these tables starts with the queue's id, so that they can be distributed by queue. There are no foreign
-- keys to `queue`: their triggers would make each enqueue a third slower, and queues are never deleted (retired instead).

create type job_state as enum ('scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'failed', 'cancelled');

create table queue (
  id integer generated always as identity primary key,
  name text not null unique,
  paused_at timestamptz,
  -- Who paused it, why, and when the pause ends (docs/adr/036).
  paused_by text,
  pause_reason text,
  -- The pause ends at this time, even if no server has cleared these columns yet.
  paused_until timestamptz,
  created_at timestamptz not null default now(),
  concurrency_limit integer,
  -- A JSON object with the members `jobs`, `periodMs` and `burst`; null if the rate is unlimited.
  rate_limit jsonb,
  -- The priorities other than 0 that the queue's jobs have had. Claims search only these and 0 (docs/adr/013).
  priorities smallint[] not null default '{}',
  -- Null unless the queue is retired. A retired queue keeps its id, so that its history can be found, but it is not
  -- listed and does not count towards the cap. If it has unfinished jobs or consumers again, it is listed, and
  -- housekeeping ends its retirement.
  retired_at timestamptz,
  -- When housekeeping first found the queue idle (see `retireIdleQueues`); null if it is in use.
  idle_since timestamptz,
  constraint queue_bounds check (
    (concurrency_limit is null or concurrency_limit between 1 and 1000000)
      and (rate_limit is null or (
        jsonb_typeof(rate_limit -> 'jobs') = 'number' and jsonb_typeof(rate_limit -> 'periodMs') = 'number'
          and jsonb_typeof(rate_limit -> 'burst') = 'number'
      ) is true)
  )
);

-- The maximum number of queues that applies to `enqueue()`: set by the last process that started with an explicit maximum.
create table queue_cap (max_queues integer not null);
insert into queue_cap (max_queues) values (10000);

-- Paused job types: no server claims their jobs. Every claim reads this table, so it holds nothing else.
create table paused_type (
  name text collate "C" primary key,
  paused_at timestamptz not null default now(),
  paused_by text,
  pause_reason text,
  paused_until timestamptz
);

-- How many tokens of its rate limit a queue has left. Claims from a queue with limits lock its row here. Separate from
-- `queue`, so that the rows that every claim reads are rarely rewritten.
create table queue_bucket (
  queue_id integer primary key,
  tokens double precision not null,
  refilled_at timestamptz not null default now()
) with (fillfactor = 50);

create sequence job_seq as bigint;

-- Ready and running jobs. A claim changes only lease_until, started_at, server_id and attempt. No index covers these
-- columns or is filtered by them, so a claim is a heap-only update. The fill factor leaves room in each page for a
-- second version of every row; at 70, only a third of the claims were heap-only.
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
  -- Properties that only some jobs have, such as tags, a batch or parents. Null if a job has none, to save space.
  meta jsonb,
  primary key (queue_id, id),
  -- Padding rows (docs/adr/003) have negative queue ids. The constraint checks only what could make a claim fail,
  -- because it costs time in every enqueue and every claim.
  constraint job_bounds check (priority between -100 and 100 and attempt <= 10000 or queue_id < 0)
) with (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index job_order on job (queue_id, priority, seq);
-- For jobs with a concurrency key, jobs in a batch, and jobs that signals find by a key. Plain jobs are in none of these
-- indexes. Claims do not change `meta`, so they do not write these indexes.
create index job_concurrency_key on job (queue_id, (meta ->> 'concurrencyKey')) where meta ? 'concurrencyKey';
create index job_batch on job (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';
create index job_correlate on job (queue_id, (meta ->> 'correlate')) where meta ? 'correlate';

-- Scheduled jobs. `run_at` is never earlier than the transaction that scheduled the job (docs/adr/013).
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
  -- When its last attempt failed; null if it is not waiting for a retry.
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
create index job_scheduled_correlate on job_scheduled (queue_id, (meta ->> 'correlate')) where meta ? 'correlate';

-- Jobs that wait for other jobs or batches. Once these have ended, a job also waits until `run_at` or for `delay_ms`, if given.
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
create index job_awaiting_correlate on job_awaiting (queue_id, (meta ->> 'correlate')) where meta ? 'correlate';

-- Ready jobs that wait until fewer jobs with their concurrency key are in `job`. A claim therefore need not check keys, and a
-- tenant with ten thousand jobs never delays a tenant with a single one (docs/adr/004).
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
create index job_blocked_correlate on job_blocked (queue_id, (meta ->> 'correlate')) where meta ? 'correlate';

-- Finished jobs: a table for each outcome, with one partition per day, so that retention drops tables and leaves no dead rows
-- (docs/adr/024).
create table job_history_done (
  queue_id integer not null,
  id uuid not null,
  created_at timestamptz not null,
  ready_at timestamptz,
  run_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz not null default now(),
  server_id uuid,
  priority smallint not null,
  attempt smallint not null,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  result jsonb,
  error jsonb,
  past_attempts jsonb,
  meta jsonb
) partition by range (finished_at);

create index job_history_done_id on job_history_done (id);
create index job_history_done_meta on job_history_done using gin (meta jsonb_path_ops) where meta is not null;
-- These are block-range indexes (BRIN), because finishing a job does not update them. The first serves reads by time
-- (docs/adr/007). The second serves searches of the current day by queue and name (docs/adr/008); it uses Bloom
-- filters, because these values are unordered. Housekeeping builds better indexes for days that have ended.
create index job_history_done_finished on job_history_done using brin (finished_at) with (pages_per_range = 64);
create index job_history_done_origin on job_history_done using brin (
  queue_id int4_bloom_ops (n_distinct_per_range = 128),
  name text_bloom_ops (n_distinct_per_range = 64)
) with (pages_per_range = 4);

create table job_history_failed (like job_history_done including all) partition by range (finished_at);
create table job_history_cancelled (like job_history_done including all) partition by range (finished_at);

-- All finished jobs. For reading only.
create view job_history as
select queue_id, id, 'done'::job_state as state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts
from job_history_done
union all
select queue_id, id, 'failed', name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts
from job_history_failed
union all
select queue_id, id, 'cancelled', name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts
from job_history_cancelled;

-- The progress and the log of attempts. Line 0 is the progress, which is overwritten as it changes. The other lines are
-- the log. Stored separately from the job's row, so that jobs without reports have no overhead. Has one partition per
-- day, like history.
create table job_report (
  queue_id integer not null,
  job_id uuid not null,
  -- When the attempt started. Part of the key, because two runs have the same attempt number if the first did not count.
  started_at timestamptz not null,
  line integer not null,
  attempt smallint not null,
  at timestamptz not null,
  level text,
  percent real,
  message text,
  fields jsonb,
  -- When the row was written, by the database's clock. Event feeds find new rows by this time (docs/adr/007).
  written_at timestamptz not null default now(),
  primary key (queue_id, job_id, started_at, line)
) partition by range (started_at);

create index job_report_written on job_report (written_at);

-- Changes to the number of jobs in each state, each written together with the jobs' state change. Their sum is always
-- exact, and the time to read it does not depend on the number of jobs. Every second, servers fold these rows into one for
-- each queue and state.
create table job_count (
  queue_id integer not null,
  state job_state not null,
  jobs bigint not null,
  -- When the row was written; null for a folded row.
  at timestamptz default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The number of jobs finished over time: for each queue per minute, and for all queues together (queue 0) per ten seconds.
-- Written when counters are folded, so it costs nothing when a job finishes. Readers add the counters that have not been
-- folded yet.
create table throughput (
  queue_id integer not null,
  at timestamptz not null,
  done bigint not null,
  failed bigint not null,
  primary key (queue_id, at)
) with (fillfactor = 50);

-- Requests to cancel running jobs, kept until the jobs end. Separate from `job`, so that cancelling does not wait for a row lock.
create table job_cancellation (
  queue_id integer not null,
  job_id uuid not null,
  requested_at timestamptz not null default now(),
  -- Why an operator asked, shown with the job until it has ended; null if they gave no reason.
  reason text,
  primary key (queue_id, job_id)
);

-- Ranges of positions that scans must read again. Jobs there became ready or visible when scans might already have
-- passed them, for example because a caller's transaction committed late. Looked up by transaction id, so that scans
-- need not read the dead entries of finished jobs again (docs/adr/013).
create table scan_gap (
  xid xid8 not null default pg_current_xact_id(),
  queue_id integer not null,
  priority smallint not null,
  first_seq bigint not null,
  last_seq bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index scan_gap_xid on scan_gap (xid);

-- Which job holds which key of its queue. Only written when a job with a key is enqueued: the row stays when the job
-- finishes, and the next enqueue with the key checks the job's state (docs/jobs/uniqueness.md). Housekeeping deletes
-- rows that no longer have any effect.
create table job_key (
  queue_id integer not null,
  -- The job's name; '' for idempotency keys.
  namespace text collate "C" not null,
  key text collate "C" not null,
  job_id uuid not null,
  -- The states in which the job holds the key; null for all.
  states job_state[],
  -- When the job stops holding the key regardless of its state; null for never.
  expires_at timestamptz,
  -- Identifies the request that came with an idempotency key; another request with the same key is a conflict.
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

-- The current queues of jobs that were moved to another queue. A key stays in the queue in which its job was enqueued, so this
-- table is needed to find the job that holds it.
create table moved_job (
  job_id uuid primary key,
  queue_id integer not null
);

-- Dependencies: one row for each parent (a job or a batch) of a job. Enqueuing only inserts rows and does not lock parents.
-- Then a background process marks each row and its parent, so that the parent's end is recorded in the outbox; processing
-- that record resolves the dependency (docs/adr/006).
create table job_dependency (
  parent_id uuid not null,
  child_id uuid not null,
  -- The queue of the child.
  queue_id integer not null,
  condition text not null check (condition in ('onDone', 'onFailed', 'onAny')),
  marked boolean not null,
  resolved_at timestamptz,
  -- Whether the parent ended as the dependency requires. Stays true after the parent is removed from history, so that a
  -- retried dependent does not wait for it again.
  met boolean not null default false,
  primary key (parent_id, child_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index job_dependency_child on job_dependency (child_id);
create index job_dependency_open on job_dependency (parent_id) where resolved_at is null;
create index job_dependency_unmarked on job_dependency (child_id) where not marked;

-- Groups of jobs that are counted together. The counters are updated from the outbox, shortly after the jobs' state changes.
create table batch (
  id uuid primary key,
  name text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  total integer not null,
  done integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  callback_id uuid,
  -- How the batch must end for its callback to run; null if it has none.
  callback_when text check (callback_when in ('onDone', 'onFailed', 'onAny'))
) with (fillfactor = 50);

-- A transactional outbox: one row for each state change of a job that affects something else (its batch, its dependents, jobs
-- with the same concurrency key). The row is written together with the change and kept until its effects have been applied.
create table outbox (
  id bigint generated always as identity primary key,
  queue_id integer not null,
  job_id uuid not null,
  from_state job_state not null,
  to_state job_state not null,
  meta jsonb not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
