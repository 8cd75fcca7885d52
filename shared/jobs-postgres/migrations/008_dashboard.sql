-- Up Migration

-- Job searches that operators saved under a name.
create table saved_search (
  name text collate "C" primary key,
  query text not null,
  saved_by text not null,
  saved_at timestamptz not null default now()
);

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
  -- Whether the start of the warning was sent as a separate message, not just counted in another one. If so, a message also
  -- announces its end.
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

-- What callers of the API have created, which their quotas limit: the caller of each queue, recurring job and
-- deployment that none had defined before. Rows of items that no longer exist do not count, and are deleted when quotas are next checked.
create table creation (
  kind text not null check (kind in ('queue', 'recurring job', 'deployment')),
  item text collate "C" not null,
  creator text collate "C" not null,
  -- An item counts from the admission on, and is given a minute to come into existence.
  admitted_at timestamptz not null default now(),
  primary key (kind, item)
);
