-- Up Migration

-- What a recurring job can also be given: an interval instead of a cron expression, and a time limit and a unique key for
-- its jobs.
alter table recurring_job
  alter column cron drop not null,
  -- An interval, such as `90 s`; null if the schedule is a cron expression.
  add column every text,
  -- A time at which the interval is due; the others are multiples of the interval before and after it.
  add column anchor timestamptz,
  -- Time limit per attempt of the enqueued jobs; null if that of the job definition applies.
  add column timeout_ms integer,
  -- The unique key of the enqueued jobs, with its options; null if they have none.
  add column uniqueness jsonb,
  add constraint recurring_job_schedule check (
    (cron is null) <> (every is null) and (every is null) = (anchor is null)
      and (anchor is null or anchor >= '1970-01-01T00:00:00Z' and anchor < '10000-01-01T00:00:00Z')
      and (timeout_ms is null or timeout_ms between 1 and 86400000)
  );

-- `duplicate`: another job held the unique key.
alter table missed_run
  drop constraint missed_run_reason_check,
  add constraint missed_run_reason_check check (reason in ('misfire', 'overlap', 'backlog', 'duplicate'));
