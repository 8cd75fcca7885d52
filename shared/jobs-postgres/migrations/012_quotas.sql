-- Up Migration

-- What callers of the API have created, which their quotas limit: the caller of each queue and recurring job that none
-- had defined before. Rows of items that no longer exist do not count, and are deleted when quotas are next checked.
create table creation (
  kind text not null check (kind in ('queue', 'recurring job')),
  item text collate "C" not null,
  creator text collate "C" not null,
  -- An item counts from the admission on, and is given a minute to come into existence.
  admitted_at timestamptz not null default now(),
  primary key (kind, item)
);

-- No job is enqueued at a due time if the queue has this many ready jobs.
alter table recurring_job add column max_ready integer check (max_ready > 0);

alter table missed_run drop constraint missed_run_reason_check;
alter table missed_run add constraint missed_run_reason_check check (reason in ('misfire', 'overlap', 'backlog'));
