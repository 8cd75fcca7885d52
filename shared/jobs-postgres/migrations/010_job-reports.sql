-- Up Migration

-- What attempts say of themselves while they run: line 0 is how far they are, rewritten as they go on; the further lines are
-- their log. Apart from the job's row, so that a job that says nothing pays nothing, and one partition a day, like history.
create table job_report (
  queue_id integer not null,
  job_id uuid not null,
  started_at timestamptz not null, -- the attempt's; two runs may bear one number, if the first was not to count
  line integer not null,
  attempt smallint not null,
  at timestamptz not null,
  level text,
  percent real,
  message text,
  fields jsonb,
  primary key (queue_id, job_id, started_at, line)
) partition by range (started_at);

-- As before, and the days of reports too.
create or replace function make_partitions(days integer) returns void language plpgsql as $$
declare
  status text;
  day date;
  part text;
begin
  -- One maker at a time, in every database with a lock of its own: job_done is the name of the lock.
  perform pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint);
  for offset_days in -1 .. days loop
    day := (now() at time zone 'UTC')::date + offset_days;
    foreach status in array array['done', 'failed', 'cancelled'] loop
      part := format('job_done_%s_%s', status, to_char(day, 'YYYYMMDD'));
      continue when to_regclass(format('longshore.%I', part)) is not null;
      execute format('create table longshore.%I (like longshore.job_done including defaults including constraints)', part);
      execute format(
        'alter table longshore.%I attach partition longshore.%I for values from (%L) to (%L)',
        'job_done_' || status, part, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
    part := format('job_report_%s', to_char(day, 'YYYYMMDD'));
    continue when to_regclass(format('longshore.%I', part)) is not null;
    execute format('create table longshore.%I (like longshore.job_report including defaults including constraints)', part);
    execute format(
      'alter table longshore.job_report attach partition longshore.%I for values from (%L) to (%L)',
      part, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
    );
  end loop;
end
$$;

select make_partitions(3);
