-- Up Migration

-- Returns a UUIDv7 (RFC 9562, section 5.7): a random UUIDv4 whose start is overwritten with the time in milliseconds, and whose
-- version is set to 7. Unlike a text in dollar quotes, this form is parsed here, and not in the session that calls the function.
create function new_id() returns uuid language sql parallel safe
return encode(
  set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1),
  'hex')::uuid;

-- Returns the id of a queue. If it does not exist, it is created; if it is retired, its retirement ends. Returns null instead if
-- that would make more than `max_queues` queues (by default the number in queue_cap). Takes no lock, so concurrent callers can
-- exceed the maximum by a few queues.
create function queue_number(queue text, max_queues integer default null) returns integer language plpgsql as $$
declare
  number integer;
begin
  select id into number from longshore.queue as found where found.name = queue_number.queue and retired_at is null;
  if number is null and (select count(*) from longshore.queue where retired_at is null)
    < coalesce(queue_number.max_queues, (select cap.max_queues from longshore.queue_cap as cap)) then
    insert into longshore.queue as found (name) values (queue_number.queue)
    on conflict (name) do update set retired_at = null, idle_since = null
    returning id into number;
  end if;
  return number;
end
$$;

-- Returns the state of the job that holds a unique key of the queue `number`; null if the job no longer exists. The job may
-- have been moved to another queue.
create function key_holder_state(number integer, holder uuid) returns job_state language plpgsql as $$
begin
  return (
    select state from (
      select coalesce((select queue_id from longshore.moved_job where job_id = holder), number) as queue_id
    ) as place
    cross join lateral (
      select case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state
      from longshore.job where queue_id = place.queue_id and id = holder
      union all select 'enqueued' from longshore.job_blocked where queue_id = place.queue_id and id = holder
      union all select 'scheduled' from longshore.job_scheduled where queue_id = place.queue_id and id = holder
      union all select 'awaiting' from longshore.job_awaiting where queue_id = place.queue_id and id = holder
      union all select state from longshore.job_history where queue_id = place.queue_id and id = holder
    ) as found
    limit 1
  );
end
$$;

-- Makes the job `new_id` the holder of a key, unless another job already holds it. Returns the holder's id. The key stays locked
-- until the transaction ends.
create function take_unique_key(number integer, namespace text, key text, new_id uuid) returns uuid language plpgsql as $$
declare
  holder record;
begin
  insert into longshore.job_key as held (queue_id, namespace, key, job_id, states)
  values (number, take_unique_key.namespace, take_unique_key.key, new_id, '{scheduled,awaiting,enqueued,processing}')
  on conflict on constraint job_key_pkey do update set job_id = held.job_id
  returning held.job_id, held.states, held.expires_at into holder;
  if holder.job_id = new_id then
    return new_id;
  end if;
  -- This check is a separate statement, so that it sees a job with this key that has just been committed.
  if coalesce(holder.expires_at > now(), true) and longshore.key_holder_state(number, holder.job_id) = any (holder.states) then
    return holder.job_id;
  end if;
  update longshore.job_key as held
  set job_id = new_id, states = '{scheduled,awaiting,enqueued,processing}', expires_at = null
  where held.queue_id = number and held.namespace = take_unique_key.namespace and held.key = take_unique_key.key;
  return new_id;
end
$$;

-- Notifies servers of the caller's writes when its transaction commits. Postgres holds a database-wide lock while a
-- transaction that notifies commits, so at most one transaction per 200 ms notifies of each kind. A notification makes servers
-- poll often for a few seconds, so that they also find the writes of the other transactions. Sends nothing if prepared
-- transactions are enabled, because those cannot notify, or if the notification queue is filling up, because a full
-- queue would make the commit fail.
--
-- Also leaves a mark: an empty gap in no queue (0), which polls read and housekeeping deletes like other gaps. By the mark,
-- servers know that there was such a transaction; anyone who may connect to the database could send the notification.
--
-- `kinds`: what the transaction has done, as in the payloads of notifications, separated by spaces.
create function notify_on_commit(kinds text default 'ready due outbox') returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  flag text;
  kind text;
begin
  if current_setting('max_prepared_transactions')::integer > 0 or pg_notification_queue_usage() >= 0.5 then
    return;
  end if;
  foreach kind in array string_to_array(kinds, ' ') loop
    -- Not the name of the schema alone, because Postgres reserves some names for the settings of extensions.
    flag := 'job_store.' || 'longshore' || '_' || kind;
    if current_setting(flag, true) is distinct from 'on'
      and pg_try_advisory_xact_lock(longshore.lock_key('notify ' || kind, (extract(epoch from clock_timestamp()) * 5)::bigint)) then
      perform set_config(flag, 'on', true),
        pg_notify('longshore', '00000000-0000-0000-0000-000000000000 * ' || kind);
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq) values (0, 0, 1, 0);
    end if;
  end loop;
end
$$;

-- Enqueues a job from SQL in the caller's transaction, for triggers, other languages and psql. Returns the job's id. Servers
-- are notified of the job when the transaction commits, or find it by polling within 200 ms. The arguments are checked against
-- the job's definition when an attempt starts.
--
-- `unique_key`: if a job of this name in this queue already holds the key, enqueues nothing and returns that job's id.
-- `concurrency_key`, `concurrency_limit`: at most that many jobs of the queue with this key run at once.
-- `version`: the version of the job's definition for which the arguments were written.
create function enqueue(
  name text,
  args jsonb default '{}',
  queue text default 'default',
  priority integer default 0,
  max_attempts integer default 10,
  run_at timestamptz default null,
  unique_key text default null,
  concurrency_key text default null,
  concurrency_limit integer default null,
  version integer default 1
) returns uuid language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  new_id uuid := longshore.new_id();
  number integer;
  holder_id uuid;
  meta jsonb;
  place bigint;
begin
  if enqueue.name is null or enqueue.name !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" is not a valid name for a job', enqueue.name);
  end if;
  if enqueue.queue is null or enqueue.queue !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" is not a valid name for a queue', enqueue.queue);
  end if;
  if enqueue.args is null or enqueue.max_attempts not between 1 and 1000 then
    raise invalid_parameter_value using message = 'args must not be null, and max_attempts must be from 1 to 1000';
  end if;
  if enqueue.priority not between -100 and 100 then
    raise invalid_parameter_value using message = format('priority must be from -100 to 100, not %s', enqueue.priority);
  end if;
  if enqueue.run_at < '1970-01-01T00:00:00Z' or enqueue.run_at >= '10000-01-01T00:00:00Z' then
    raise invalid_parameter_value using message = format('run_at must be a time from 1970 to 9999, not %s', enqueue.run_at);
  end if;
  if jsonb_path_exists(enqueue.args, 'strict $.**{101}') then
    raise invalid_parameter_value using message = 'args are nested more than 100 levels deep';
  end if;
  if octet_length(enqueue.args::text) > 67108864 then
    raise invalid_parameter_value using message = 'args take more than 67108864 bytes as JSON';
  end if;
  if length(enqueue.unique_key) not between 1 and 200 or length(enqueue.concurrency_key) not between 1 and 200 then
    raise invalid_parameter_value using message = 'a key must have 1 to 200 characters';
  end if;
  if (enqueue.concurrency_key is null) <> (enqueue.concurrency_limit is null) or enqueue.concurrency_limit not between 1 and 10000 then
    raise invalid_parameter_value using message = 'concurrency_key requires concurrency_limit, which must be from 1 to 10000';
  end if;
  if enqueue.version is null or enqueue.version not between 1 and 1000000 then
    raise invalid_parameter_value using message = format('version must be from 1 to 1000000, not %s', enqueue.version);
  end if;
  number := longshore.queue_number(enqueue.queue);
  if number is null then
    raise program_limit_exceeded using
      message = format('The maximum of %s queues has been reached, so "%s" cannot be created', (select max_queues from longshore.queue_cap), enqueue.queue),
      hint = 'Delete queues that are no longer used, or raise DATABASE_MAX_QUEUES (maxQueues).';
  end if;
  if enqueue.priority <> 0 then
    update longshore.queue
    set priorities = array(select distinct p from unnest(priorities || enqueue.priority::smallint) as p order by p)
    where id = number and not priorities @> array[enqueue.priority::smallint];
  end if;
  if enqueue.unique_key is not null then
    holder_id := longshore.take_unique_key(number, enqueue.name, enqueue.unique_key, new_id);
    if holder_id <> new_id then
      return holder_id;
    end if;
  end if;
  if enqueue.concurrency_key is not null then
    meta := jsonb_build_object('concurrencyKey', enqueue.concurrency_key, 'concurrencyLimit', enqueue.concurrency_limit);
  end if;
  if enqueue.unique_key is not null then
    meta := coalesce(meta, '{}') || jsonb_build_object('unique', jsonb_build_object('key', enqueue.unique_key));
  end if;
  if enqueue.version > 1 then
    meta := coalesce(meta, '{}') || jsonb_build_object('version', enqueue.version);
  end if;
  if enqueue.run_at is not null then
    insert into longshore.job_scheduled (queue_id, id, name, priority, max_attempts, args, meta, run_at)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, meta, greatest(enqueue.run_at, now()));
  elsif enqueue.concurrency_key is null then
    insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, meta)
    returning seq into place;
    insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq) values (number, enqueue.priority, place, place);
  else
    -- A server moves the job to the table `job` when its concurrency key has a free slot.
    insert into longshore.job_blocked (queue_id, id, name, priority, max_attempts, args, meta)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, meta);
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    values (number, new_id, 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', enqueue.concurrency_key));
  end if;
  insert into longshore.job_count (queue_id, state, jobs)
  values (number, case when enqueue.run_at is null then 'enqueued' else 'scheduled' end::longshore.job_state, 1);
  perform longshore.notify_on_commit(
    case when enqueue.run_at is not null then 'due' when enqueue.concurrency_key is not null then 'outbox' else 'ready' end);
  return new_id;
end
$$;
