-- Up Migration

-- What ends, or says something of itself, on a day without a partition goes to a default partition: a completion never fails for
-- want of a table, whatever became of the partitions or of the clock. Housekeeping makes the missing day and moves the rows
-- there. Attached, not created as partitions: that would lock readers and writers of the history out.
create table job_done_done_other (like job_done including defaults including constraints);
create table job_done_failed_other (like job_done including defaults including constraints);
create table job_done_cancelled_other (like job_done including defaults including constraints);
create table job_report_other (like job_report including defaults including constraints);

select index_failures('job_done_failed_other');

-- The lock of make_partitions, in the order in which it takes them.
select pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint);
alter table job_done_done attach partition job_done_done_other default;
alter table job_done_failed attach partition job_done_failed_other default;
alter table job_done_cancelled attach partition job_done_cancelled_other default;
alter table job_report attach partition job_report_other default;

-- Days of history that have passed their retention, or will within a day, and when that was first seen. A day is dropped only
-- some time after that, so that a clock that is wrong for a while costs no history (docs/operations.md).
create table expiring_day (
  part text primary key,
  seen_at timestamptz not null default now()
);

-- Makes the partition of a day (UTC) of job_done_done, job_done_failed, job_done_cancelled or job_report, and moves there what has
-- gone to the default partition for want of it. Returns whether it has made one: not if the partition exists, nor if so many
-- rows wait that moving them would keep writers out for long. Those stay where they are until they have passed their retention.
create function make_history_day(history text, day date) returns boolean language plpgsql as $$
declare
  part text := format('%s_%s', history, to_char(day, 'YYYYMMDD'));
  other text := history || '_other';
  model text := case history when 'job_report' then history else 'job_done' end;
  at text := case history when 'job_report' then 'started_at' else 'finished_at' end;
  first timestamptz := day::timestamp at time zone 'UTC';
  following timestamptz := (day + 1)::timestamp at time zone 'UTC';
  strays bigint;
begin
  -- One maker at a time, in every database with a lock of its own: job_done is the name of the lock.
  perform pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint);
  -- Not by to_regclass(), which may remember that there was none before the lock.
  if exists (select from pg_catalog.pg_class where relname = part and relnamespace = 'longshore'::regnamespace) then
    return false;
  end if;
  execute format(
    'select count(*) from (select from longshore.%1$I where %2$I >= %3$L and %2$I < %4$L limit 100001) as found',
    other, at, first, following
  ) into strays;
  if strays > 100000 then
    return false;
  end if;
  execute format('create table longshore.%I (like longshore.%I including defaults including constraints)', part, model);
  if history = 'job_done_failed' then
    perform longshore.index_failures(part);
  end if;
  -- Attaching takes this lock in any case. From here on readers and writers of the default partition wait.
  execute format('lock table longshore.%I in access exclusive mode', other);
  execute format(
    'with moved as (delete from longshore.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
     insert into longshore.%5$I select * from moved',
    other, at, first, following, part
  );
  execute format('alter table longshore.%I attach partition longshore.%I for values from (%L) to (%L)', history, part, first, following);
  return true;
end
$$;

-- As before, in one transaction. The servers make one day a transaction.
create or replace function make_partitions(days integer) returns void language plpgsql as $$
declare
  history text;
begin
  for offset_days in -1 .. days loop
    foreach history in array array['job_done_done', 'job_done_failed', 'job_done_cancelled', 'job_report'] loop
      perform longshore.make_history_day(history, (now() at time zone 'UTC')::date + offset_days);
    end loop;
  end loop;
end
$$;
