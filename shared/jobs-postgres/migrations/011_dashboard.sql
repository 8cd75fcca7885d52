-- Up Migration

-- Job searches that operators saved under a name.
create table saved_search (
  name text collate "C" primary key,
  query text not null,
  saved_by text not null,
  saved_at timestamptz not null default now()
);

-- When each kind of error of each job name was first and last seen. Kept even after the failed jobs have been deleted,
-- retried or dropped with their partition (docs/adr/038).
create table first_failure (
  name text collate "C" not null,
  -- longshore.error_kind of the error.
  kind bigint not null,
  first_at timestamptz not null,
  -- Updated at most once an hour.
  last_at timestamptz not null,
  primary key (name, kind)
);

-- The weights of a server's queues, in the same order; null if the server serves them in strict order.
alter table server add column queue_weights integer[];
