-- Up Migration

-- Due times of recurring jobs for which no job was enqueued: from `from_at` (inclusive) to `until_at` (exclusive). A
-- row is extended while the same reason applies to consecutive due times. Kept for 30 days.
create table missed_run (
  recurring_job_id text collate "C" not null,
  from_at timestamptz not null,
  until_at timestamptz not null,
  reason text not null check (reason in ('misfire', 'overlap')),
  primary key (recurring_job_id, from_at)
);

create index missed_run_until on missed_run (until_at);
