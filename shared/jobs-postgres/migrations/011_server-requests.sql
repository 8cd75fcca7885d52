-- Up Migration

-- What a server does, as it says itself, and what an operator asks of it: its heartbeat reads that.
alter table server
  add column state text not null default 'running' check (state in ('running', 'quiet', 'stopping')),
  add column requested text check (requested in ('quiet', 'stop'));
