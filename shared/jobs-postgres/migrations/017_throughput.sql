-- Up Migration

-- When a change of the counters was written; null in what has been folded together. The statements that write them do not
-- know of it.
alter table job_count add column at timestamptz;
alter table job_count alter column at set default now();

-- Jobs that ended, by time: of each queue by the minute, and of all (queue 0) by ten seconds. Written when the counters are
-- folded, so a job that ends pays nothing for it; what has not been folded yet is read from the counters.
create table throughput (
  queue_id integer not null,
  at timestamptz not null,
  done bigint not null,
  failed bigint not null,
  primary key (queue_id, at)
) with (fillfactor = 50);
