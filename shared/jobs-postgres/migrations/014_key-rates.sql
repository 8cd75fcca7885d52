-- Up Migration

-- The token buckets of concurrency keys with a rate, and the time at which the next blocked job of each key can start. Rows of
-- full buckets are deleted.
create table key_rate (
  queue_id integer not null,
  key text collate "C" not null,
  full_at timestamptz not null,
  wake_at timestamptz,
  primary key (queue_id, key)
) with (fillfactor = 50);

create index key_rate_wake on key_rate (wake_at) where wake_at is not null;

-- The rate of the concurrency key of the enqueued jobs: `jobs`, `periodMs` and `burst`.
alter table recurring_job add column concurrency_rate jsonb;
