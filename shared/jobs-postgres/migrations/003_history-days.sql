-- Up Migration

-- Returns an error's name and message with the variable parts (numbers, ids, quoted text) replaced, so that errors of one
-- kind have the same fingerprint. `errorFingerprint` in TypeScript returns the same. If this function changes, the
-- indexes on `error_kind` must be rebuilt.
create function error_fingerprint(error jsonb) returns text language sql immutable parallel safe as $$
  select (error ->> 'name') || ': ' || regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    left(split_part(error ->> 'message', E'\n', 1), 200),
    '''[^'']*''|"[^"]*"|`[^`]*`', '<text>', 'g'),
    '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}', '<id>', 'g'),
    '0x[0-9A-Fa-f]+', '<id>', 'g'),
    '[0-9A-Fa-f]*[0-9][0-9A-Fa-f]{15,}', '<id>', 'g'),
    '[0-9]+', '<n>', 'g')
$$;

-- Returns a hash of the fingerprint, because index entries have a maximum size and the database does not limit the
-- length of error names.
create function error_kind(error jsonb) returns bigint language sql immutable parallel safe as $$
  select hashtextextended(longshore.error_fingerprint(error), 0)
$$;

-- Indexes a partition of failed jobs, for finding the latest failures and counting failures by kind (docs/adr/010).
-- Blocks writers, so it is only called for empty or small partitions. For others, housekeeping builds the same indexes
-- with the same names.
create function index_failures(part text) returns void language plpgsql as $$
begin
  execute format('create index if not exists %I on longshore.%I (finished_at, id)', part || '_at', part);
  execute format('create index if not exists %I on longshore.%I (queue_id, finished_at, id)', part || '_queue_at', part);
  execute format(
    'create index if not exists %I on longshore.%I (name, longshore.error_kind(error), finished_at)', part || '_kind', part
  );
end
$$;

-- Rows of days without a partition go to the default partitions, so that a missing partition never makes a completion
-- fail. Housekeeping creates the missing partition and moves the rows there. The default partitions are created
-- separately and then attached, as in make_history_day().
create table job_history_done_default (like job_history_done including defaults including constraints);
create table job_history_failed_default (like job_history_failed including defaults including constraints);
create table job_history_cancelled_default (like job_history_cancelled including defaults including constraints);
create table job_report_default (like job_report including defaults including constraints);

select index_failures('job_history_failed_default');

alter table job_history_done attach partition job_history_done_default default;
alter table job_history_failed attach partition job_history_failed_default default;
alter table job_history_cancelled attach partition job_history_cancelled_default default;
alter table job_report attach partition job_report_default default;

-- Creates the partition of a day (UTC) of job_history_done, job_history_failed, job_history_cancelled or job_report,
-- and moves the day's rows there from the default partition. Returns false if the partition exists, or if there are
-- more than 100,000 rows to move, which would block writers for too long. Those rows stay in the default partition
-- until their retention has passed.
create function make_history_day(history text, day date) returns boolean language plpgsql as $$
declare
  part text := format('%s_%s', history, to_char(day, 'YYYYMMDD'));
  other text := history || '_default';
  at text := case history when 'job_report' then 'started_at' else 'finished_at' end;
  first timestamptz := day::timestamp at time zone 'UTC';
  following timestamptz := (day + 1)::timestamp at time zone 'UTC';
  strays bigint;
begin
  -- Only one process at a time creates or drops partitions.
  perform pg_advisory_xact_lock(longshore.lock_key('job_history'));
  -- Does not use to_regclass(), because it may return a result that was cached before the lock was taken.
  if exists (select 1 from pg_catalog.pg_class where relname = part and relnamespace = 'longshore'::regnamespace) then
    return false;
  end if;
  execute format(
    'select count(*) from (select 1 from longshore.%1$I where %2$I >= %3$L and %2$I < %4$L limit 100001) as found',
    other, at, first, following
  ) into strays;
  if strays > 100000 then
    return false;
  end if;
  -- Creating the partition first and attaching it later blocks neither readers nor writers of the other days.
  execute format('create table longshore.%I (like longshore.%I including defaults including constraints)', part, history);
  if history = 'job_history_failed' then
    perform longshore.index_failures(part);
  end if;
  -- Blocks readers and writers of the default partition, so that it receives no more rows of this day. Attaching takes
  -- the same lock anyway.
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

-- Creates the partitions of all days from yesterday to `days` days ahead, in one transaction. Only this migration
-- calls it; servers create each day in a transaction of its own.
create function make_partitions(days integer) returns void language plpgsql as $$
declare
  history text;
begin
  for offset_days in -1 .. days loop
    foreach history in array array['job_history_done', 'job_history_failed', 'job_history_cancelled', 'job_report'] loop
      perform longshore.make_history_day(history, (now() at time zone 'UTC')::date + offset_days);
    end loop;
  end loop;
end
$$;

select make_partitions(3);

-- When each kind of error of each job name was first and last seen. Kept even after the failed jobs have been deleted,
-- retried or dropped with their partition (docs/adr/038).
create table first_failure (
  name text collate "C" not null,
  -- The kind of the error, as returned by longshore.error_kind.
  kind bigint not null,
  first_at timestamptz not null,
  -- Updated at most once an hour.
  last_at timestamptz not null,
  primary key (name, kind)
);
