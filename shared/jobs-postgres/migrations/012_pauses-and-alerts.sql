-- Up Migration

-- Who paused a queue, a job type or a recurring job, why, and when the pause ends (docs/adr/036).
alter table queue
  add column paused_by text,
  add column pause_reason text,
  -- The pause ends at this time, even if no server has cleared these columns yet.
  add column paused_until timestamptz;

alter table paused_type
  add column paused_by text,
  add column pause_reason text,
  add column paused_until timestamptz;

alter table recurring_job
  add column paused_by text,
  add column pause_reason text,
  add column paused_until timestamptz;

-- Why the person acted; null if they gave no reason.
alter table audit add column reason text;

-- The active warnings, recorded so that webhooks are notified once when a warning begins and once when it ends
-- (docs/adr/037).
create table alert (
  key text primary key,
  text text not null,
  advice text not null,
  -- A path inside the dashboard.
  link text not null,
  since timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- Whether a message of its own announced that the warning began. If so, another announces that it ended.
  announced boolean not null
);

-- Messages that have not been delivered: one row for each message and webhook.
create table alert_message (
  id uuid not null,
  -- Identifies the webhook without revealing its URL, which may contain a secret.
  target text not null,
  content jsonb not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  -- When to try again; null if delivery has been given up.
  next_at timestamptz default now(),
  error text,
  primary key (id, target)
);

-- When a process last checked the warnings. Processes take turns by locking the only row.
create table alert_turn (
  single boolean primary key default true check (single),
  taken_at timestamptz not null default '-infinity'
);

insert into alert_turn default values;
