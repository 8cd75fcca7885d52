-- Up Migration

-- Schedules that enqueue jobs. One transaction locks the row, advances next_due_at and inserts the job, so that each
-- due time enqueues at most one job, however many servers there are.
create table recurring_job (
  id text primary key,
  name text not null,
  args jsonb not null,
  queue text not null,
  priority smallint not null,
  max_attempts smallint not null,
  cron text not null,
  time_zone text not null,
  misfire text not null check (misfire in ('skip', 'once', 'all')),
  misfire_limit integer not null,
  overlap text not null check (overlap in ('allow', 'skip', 'wait')),
  -- The application whose code defines it; null if an operator added it.
  application text,
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  paused_until timestamptz,
  -- Null while the schedule is paused, and if it has no further times.
  next_due_at timestamptz,
  last_due_at timestamptz,
  last_job_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Tags, concurrency key and concurrency limit of the enqueued jobs.
  tags text[] not null default '{}',
  concurrency_key text,
  concurrency_limit integer,
  -- No job is enqueued at a due time if the queue has this many ready jobs; null for no limit.
  max_ready integer check (max_ready > 0),
  constraint recurring_job_bounds check (
    priority between -100 and 100 and max_attempts between 1 and 1000 and misfire_limit between 1 and 1000
      and (next_due_at is null or next_due_at >= '1970-01-01T00:00:00Z' and next_due_at < '10000-01-01T00:00:00Z')
      and (concurrency_limit is null or concurrency_limit between 1 and 10000)
  )
);

create index recurring_job_due on recurring_job (next_due_at) where next_due_at is not null;

-- Due times of recurring jobs for which no job was enqueued: from `from_at` (inclusive) to `until_at` (exclusive). A
-- row is extended while the same reason applies to consecutive due times. Kept for 30 days.
create table missed_run (
  recurring_job_id text collate "C" not null,
  from_at timestamptz not null,
  until_at timestamptz not null,
  reason text not null check (reason in ('misfire', 'overlap', 'backlog')),
  primary key (recurring_job_id, from_at)
);

create index missed_run_until on missed_run (until_at);

-- Actions on all jobs that match a filter, which servers carry out in chunks (docs/adr/028). The transaction of each chunk
-- locks the row and advances `cursor`, so that no job is changed twice after a crash.
create table bulk_operation (
  id uuid primary key,
  action text not null check (action in ('cancel', 'retry', 'run', 'reschedule', 'delete')),
  filter jsonb not null,
  state text not null default 'running' check (state in ('running', 'done', 'cancelled', 'failed')),
  cursor jsonb,
  -- How many jobs matched at the start; null if unknown. A lower bound if `matched_exact` is false.
  matched bigint,
  matched_exact boolean,
  seen bigint not null default 0,
  changed bigint not null default 0,
  skipped bigint not null default 0,
  requested_by text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  error text,
  -- Jobs created or finished after this time are not changed; null stands for the start of the operation.
  as_of timestamptz,
  -- For each finished state, the lowest id that may be changed; a state without an entry has no such limit.
  first_ids jsonb not null default '{}',
  -- The largest number of jobs that may be changed; null for no limit.
  max_jobs bigint,
  -- Whether to restore the dependents of retried jobs.
  dependents boolean not null default false,
  -- The operation changes nothing before this time.
  starts_at timestamptz not null default now(),
  -- The queues in which the dependents of retried jobs are restored, if its caller may not see all; null for all.
  visible_queues text[],
  -- How many dependents of retried jobs it has restored.
  restored bigint not null default 0,
  -- Why the running jobs are cancelled, shown with each until it has ended; null if no reason was given.
  reason text,
  -- The time to which jobs are rescheduled; null unless that is the action.
  run_at timestamptz
) with (fillfactor = 50);

create index bulk_operation_running on bulk_operation (id) where state = 'running';

-- The jobs that an operation has changed. There is no foreign key: checking it would take longer than the insert.
create table bulk_operation_job (
  operation_id uuid not null,
  job_id uuid not null,
  primary key (operation_id, job_id)
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
  heartbeat_at timestamptz not null default now(),
  state text not null default 'running' check (state in ('running', 'quiet', 'stopping')),
  -- An operator's request, which the server reads with its heartbeat.
  requested text check (requested in ('quiet', 'stop')),
  -- The names of the jobs that the server has handlers for; null if it registered none and claims any job.
  job_names text[],
  -- How far the server's clock is ahead of the database's, as measured by its heartbeats; null if not measured yet.
  clock_ahead_ms integer,
  -- The weights of `queues`, in the same order; null if the server polls its queues in strict order.
  queue_weights integer[]
) with (fillfactor = 50);

-- Deployments: when each version of an application was put into service.
create table deployment (
  id uuid primary key,
  version text not null,
  at timestamptz not null default now(),
  note text,
  source text not null check (source in ('api', 'server')),
  constraint deployment_bounds check (at >= '1970-01-01T00:00:00Z' and at < '10000-01-01T00:00:00Z')
);

create index deployment_at on deployment (at);

-- The versions that servers have reported. Those of servers that have stopped are kept for a month, to tell which version
-- ran a job.
create table server_version (
  server_id uuid primary key,
  version text not null,
  noted_at timestamptz not null default now()
);

-- Servers that were declared dead, kept for at least a day.
create table lost_server (
  id uuid not null,
  host text not null,
  pid integer not null,
  processing integer not null,
  heartbeat_at timestamptz not null,
  lost_at timestamptz not null default now(),
  -- Maximum number of jobs that the server ran at once. Jobs that it had claimed beyond this number never started.
  concurrency integer,
  primary key (lost_at, id)
);

-- The audit log: one row for each action of an operator, however many jobs it affected, and one for each pause that
-- ended automatically.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  who text not null,
  action text not null,
  target text,
  filter jsonb,
  count bigint not null,
  -- Why the person acted; null if they gave no reason.
  reason text
);

-- Charts and warnings read a span of time, the pages of jobs a target.
create index audit_at on audit (at, id);
create index audit_target on audit (target, at, id) where target is not null;

-- Items that background work skips because their data makes it fail. An item is retried after a minute, then after
-- twice as long each time, up to an hour. Jobs that a bulk operation skipped are retried only when an operator asks
-- for it.
create table set_aside (
  id bigint generated always as identity primary key,
  role text not null,
  -- Identifies the item within its role, for example the id of a job or an outbox entry, or the name of a task.
  key text not null,
  -- The job that the item concerns, if any, and its queue.
  queue_id integer,
  job_id uuid,
  -- Data that a retry needs and that is not stored elsewhere.
  item jsonb,
  error jsonb not null,
  failures integer not null default 1,
  created_at timestamptz not null default now(),
  failed_at timestamptz not null default now(),
  retry_at timestamptz not null default now() + interval '1 minute',
  -- When an operator discarded the item; null if it was not discarded.
  discarded_at timestamptz,
  unique (role, key)
);

-- Partitions whose retention has ended or ends within a day, and when that was first noticed. They are dropped at least 20 hours
-- after that, so that no history is lost if the clock is wrong for a while (docs/operations.md).
create table expiring_day (
  part text primary key,
  seen_at timestamptz not null default now()
);
