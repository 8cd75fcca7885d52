-- Up Migration

-- Limits of a queue: how many of its jobs run at once, and how many start in a time (`jobs`, `periodMs`, `burst`).
alter table queue add column concurrency_limit integer, add column rate_limit jsonb;

-- What a queue with limits locks while it gives out jobs, and the tokens left in its bucket. Apart from `queue`, which every
-- claim reads and hardly anything writes.
create table queue_bucket (
  queue_id integer primary key,
  tokens double precision not null,
  refilled_at timestamptz not null default now()
) with (fillfactor = 50);
