-- Up Migration

-- Actions on all jobs of a filter, which servers carry out chunk by chunk. `cursor` says how far they have come; it moves in
-- the transaction of each chunk, under the lock of the row, so that whoever goes on after a crash does nothing twice.
create table bulk_operation (
  id uuid primary key,
  action text not null check (action in ('cancel', 'retry', 'run', 'delete')),
  filter jsonb not null,
  state text not null default 'running' check (state in ('running', 'done', 'cancelled', 'failed')),
  cursor jsonb,
  -- How many jobs matched at the start, or more than so many; null if nobody knows.
  matched bigint,
  matched_exact boolean,
  seen bigint not null default 0,
  changed bigint not null default 0,
  skipped bigint not null default 0,
  requested_by text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  error text
) with (fillfactor = 50);

create index bulk_operation_running on bulk_operation (id) where state = 'running';
