-- Up Migration

-- Schedules that enqueue jobs. A due time is met by moving next_due_at on and inserting the job in one transaction, under
-- the lock of the row: of many servers one does it.
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
  -- Null while it is paused, and when no time is to come.
  next_due_at timestamptz,
  last_due_at timestamptz,
  last_job_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index recurring_job_due on recurring_job (next_due_at) where next_due_at is not null;
