-- Up Migration

-- How far a server's clock is ahead of the database's, as its heartbeats measure it; null: not measured yet.
alter table server add column clock_ahead_ms integer;

-- Servers that were declared dead, for a day: people ask in the morning what became of them.
create table server_lost (
  id uuid not null,
  host text not null,
  pid integer not null,
  processing integer not null,
  heartbeat_at timestamptz not null,
  lost_at timestamptz not null default now(),
  primary key (lost_at, id)
);
