-- Up Migration

-- How the batch must end for its callback to run; null if it has none.
alter table batch add column callback_when text check (callback_when in ('onDone', 'onFailed', 'onAny'));

-- As before, and stores the unique key with the job, so that reads of the job show it.
-- Enqueues a job from SQL in the caller's transaction, for triggers, other languages and psql. Returns the job's id. Servers
-- are notified of the job when the transaction commits, or find it by polling within 200 ms. The arguments are not checked
-- against the job's definition.
--
-- `unique_key`: if a job of this name in this queue already holds the key, enqueues nothing and returns that job's id.
-- `concurrency_key`, `concurrency_limit`: at most that many jobs of the queue with this key run at once.
create or replace function enqueue(
  name text,
  args jsonb default '{}',
  queue text default 'default',
  priority integer default 0,
  max_attempts integer default 10,
  run_at timestamptz default null,
  unique_key text default null,
  concurrency_key text default null,
  concurrency_limit integer default null
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
