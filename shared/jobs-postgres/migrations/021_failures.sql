-- Up Migration

-- So that what failed last is found at once, of all queues and of one, and failures can be counted by kind (docs/adr/010). Only
-- days of failed jobs have these indexes: a job that is done or cancelled pays nothing for them.

-- What errors of one kind have in common, as `errorFingerprint` in TypeScript makes it. An index is made of it: whoever changes
-- it makes that index anew.
create function error_fingerprint(error jsonb) returns text language sql immutable parallel safe as $$
  select (error ->> 'name') || ': ' || regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    left(split_part(error ->> 'message', E'\n', 1), 200),
    '''[^'']*''|"[^"]*"|`[^`]*`', '<text>', 'g'),
    '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}', '<id>', 'g'),
    '0x[0-9A-Fa-f]+', '<id>', 'g'),
    '[0-9A-Fa-f]*[0-9][0-9A-Fa-f]{15,}', '<id>', 'g'),
    '[0-9]+', '<n>', 'g')
$$;

-- The fingerprint in eight bytes: names of errors have no bound, and entries of an index do.
create function error_kind(error jsonb) returns bigint language sql immutable parallel safe as $$
  select hashtextextended(longshore.error_fingerprint(error), 0)
$$;

-- Gives a day of failed jobs its indexes. Keeps writers out while it lasts, so only days are given to it that are empty or
-- small; housekeeping builds the same ones, by the same names, on others.
create function index_failures(part text) returns void language plpgsql as $$
begin
  execute format('create index if not exists %I on longshore.%I (finished_at, id)', part || '_at', part);
  execute format('create index if not exists %I on longshore.%I (queue_id, finished_at, id)', part || '_queue_at', part);
  execute format(
    'create index if not exists %I on longshore.%I (name, longshore.error_kind(error), finished_at)', part || '_kind', part
  );
end
$$;

-- As before, and days of failed jobs get their indexes while they are empty.
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
      if status = 'failed' then
        perform longshore.index_failures(part);
      end if;
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

-- The days there are, but those that are large.
select pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint);
select index_failures(part.relname)
from pg_catalog.pg_inherits join pg_catalog.pg_class as part on part.oid = inhrelid
where inhparent = 'longshore.job_done_failed'::regclass and pg_relation_size(part.oid) < 4194304
order by part.relname;
