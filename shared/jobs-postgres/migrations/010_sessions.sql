-- Up Migration

-- Functions that run in sessions of others (docs/adr/043): what they do must not depend on the settings of the session.

-- Returns the key of an advisory lock. A hash of the schema and the purpose, because an application that shares the database
-- may use small numbers, oids and pairs of integers as keys of its own.
create function lock_key(purpose text, item bigint default 0) returns bigint language sql immutable parallel safe
return hashtextextended('longshore.' || purpose, item);

-- As in 005. Unlike a text in dollar quotes, this form is parsed here, and not in the session that calls the function.
create or replace function new_id() returns uuid language sql parallel safe
return encode(
  set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1),
  'hex')::uuid;

-- As in 003, with a key of its own.
create or replace function make_history_day(history text, day date) returns boolean language plpgsql as $$
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

-- As in 004, with a key of its own.
create or replace function rewrite_counts() returns boolean language plpgsql as $$
declare
  queues integer[];
  states longshore.job_state[];
  sums bigint[];
begin
  if not pg_try_advisory_xact_lock(longshore.lock_key('job_count')) then
    return false;
  end if;
  perform set_config('lock_timeout', '50ms', true);
  lock table longshore.job_count in access exclusive mode;
  insert into longshore.throughput as counted (queue_id, at, done, failed)
  select place.queue_id, place.at, coalesce(sum(jobs) filter (where state = 'done'), 0),
    coalesce(sum(jobs) filter (where state = 'failed'), 0)
  from longshore.job_count
  cross join lateral (
    values (0, date_bin('10 seconds', job_count.at, 'epoch')), (job_count.queue_id, date_bin('1 minute', job_count.at, 'epoch'))
  ) as place (queue_id, at)
  where job_count.at is not null and jobs > 0 and state in ('done', 'failed')
  group by place.queue_id, place.at order by place.queue_id, place.at
  on conflict (queue_id, at) do update set done = counted.done + excluded.done, failed = counted.failed + excluded.failed;
  select array_agg(queue_id), array_agg(state), array_agg(total) into queues, states, sums
  from (select queue_id, state, sum(jobs) as total from longshore.job_count group by queue_id, state having sum(jobs) <> 0) as folded;
  truncate longshore.job_count;
  insert into longshore.job_count (queue_id, state, jobs, at)
  select queue_id, state, jobs, null from unnest(queues, states, sums) as folded (queue_id, state, jobs);
  return true;
exception when lock_not_available then
  return false;
end
$$;

-- As in 004, with a key of its own.
create or replace function rewrite_small_table(part regclass, most integer) returns boolean language plpgsql as $$
declare
  live integer;
begin
  if not pg_try_advisory_xact_lock(longshore.lock_key('rewrite', part::oid::bigint)) then
    return false;
  end if;
  execute format('select count(*) from (select 1 from %s limit %s) as counted', part, most + 1) into live;
  if live > most then
    return false;
  end if;
  perform set_config('lock_timeout', '50ms', true);
  execute format('lock table %s in access exclusive mode', part);
  execute format('create temp table kept on commit drop as select * from %s', part);
  execute format('truncate %s', part);
  execute format('insert into %s overriding system value select * from pg_temp.kept', part);
  drop table pg_temp.kept;
  return true;
exception when lock_not_available then
  return false;
end
$$;

-- As in 005, with a key of its own, the path of Postgres's functions, and a setting whose name every schema may have.
create or replace function notify_on_commit() returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the name of the schema alone, because Postgres reserves some names for the settings of extensions.
  flag text := 'job_store.' || 'longshore';
begin
  if current_setting(flag, true) is distinct from 'on'
    and current_setting('max_prepared_transactions')::integer = 0
    and pg_try_advisory_xact_lock(longshore.lock_key('notify', (extract(epoch from clock_timestamp()) * 5)::bigint))
    and pg_notification_queue_usage() < 0.5 then
    perform set_config(flag, 'on', true),
      pg_notify('longshore', '00000000-0000-0000-0000-000000000000 *');
  end if;
end
$$;

alter function enqueue(text, jsonb, text, integer, integer, timestamptz, text, text, integer)
  set search_path = pg_catalog, pg_temp;

-- Gives the settings of the session the values that the storage's statements expect, until leave_session() or the end of the
-- transaction. Does nothing if none has a value that makes a difference. The caller has set the search path.
create function enter_session() returns boolean language plpgsql as $$
begin
  if current_setting('datestyle') like 'ISO%'
    and current_setting('intervalstyle') = 'postgres'
    and current_setting('extra_float_digits')::integer >= 1
    and current_setting('bytea_output') = 'hex'
    and current_setting('array_nulls') = 'on'
    and current_setting('standard_conforming_strings') = 'on'
    and current_setting('backslash_quote') = 'safe_encoding'
    and current_setting('transform_null_equals') = 'off'
    and current_setting('quote_all_identifiers') = 'off'
    and current_setting('gin_fuzzy_search_limit') = '0' then
    return false;
  end if;
  perform set_config('job_session.deviates', 'on', true);
  perform set_config('job_session.' || name, current_setting(name), true), set_config(name, value, true)
  from (values
    ('datestyle', 'ISO, MDY'),
    ('intervalstyle', 'postgres'),
    ('timezone', 'UTC'),
    ('extra_float_digits', '1'),
    ('bytea_output', 'hex'),
    ('array_nulls', 'on'),
    ('standard_conforming_strings', 'on'),
    ('backslash_quote', 'safe_encoding'),
    ('transform_null_equals', 'off'),
    ('quote_all_identifiers', 'off'),
    ('gin_fuzzy_search_limit', '0')
  ) as setting (name, value);
  return true;
end
$$;

-- Restores the settings that enter_session() has changed.
create function leave_session() returns boolean language plpgsql as $$
begin
  if current_setting('job_session.deviates', true) is distinct from 'on' then
    return false;
  end if;
  perform set_config('job_session.deviates', '', true);
  perform set_config(name, current_setting('job_session.' || name), true)
  from unnest(array[
    'datestyle', 'intervalstyle', 'timezone', 'extra_float_digits', 'bytea_output', 'array_nulls', 'standard_conforming_strings', 'backslash_quote', 'transform_null_equals', 'quote_all_identifiers', 'gin_fuzzy_search_limit'
  ]) as name;
  return true;
end
$$;
