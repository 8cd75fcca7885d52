-- Up Migration

-- The same with keys; calls that name none of them mean what they meant. `unique_key`: if an unfinished job of this name in this
-- queue holds it, nothing is enqueued and the answer is that job. `concurrency_key` and `concurrency_limit`: at most so many jobs
-- of the queue with this key run at once.
drop function enqueue(text, jsonb, text, integer, integer, timestamptz);

create function enqueue(
  name text,
  args jsonb default '{}',
  queue text default 'default',
  priority integer default 0,
  max_attempts integer default 10,
  run_at timestamptz default null,
  unique_key text default null,
  concurrency_key text default null,
  concurrency_limit integer default null
) returns uuid language plpgsql as $$
declare
  new_id uuid := longshore.new_id();
  number integer;
  holder record;
  meta jsonb;
begin
  if enqueue.name is null or enqueue.name !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" cannot name a job', enqueue.name);
  end if;
  if enqueue.queue is null or enqueue.queue !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' then
    raise invalid_parameter_value using message = format('"%s" cannot name a queue', enqueue.queue);
  end if;
  if enqueue.args is null or enqueue.max_attempts not between 1 and 1000 then
    raise invalid_parameter_value using message = 'args must not be null, and max_attempts is 1 to 1000';
  end if;
  if length(enqueue.unique_key) not between 1 and 200 or length(enqueue.concurrency_key) not between 1 and 200 then
    raise invalid_parameter_value using message = 'a key has 1 to 200 characters';
  end if;
  if (enqueue.concurrency_key is null) <> (enqueue.concurrency_limit is null) or enqueue.concurrency_limit not between 1 and 10000 then
    raise invalid_parameter_value using message = 'concurrency_key goes with concurrency_limit, which is 1 to 10000';
  end if;
  select id into number from longshore.queue where queue.name = enqueue.queue;
  if number is null then
    insert into longshore.queue (name) values (enqueue.queue) on conflict do nothing;
    select id into strict number from longshore.queue where queue.name = enqueue.queue;
  end if;
  if enqueue.unique_key is not null then
    insert into longshore.job_unique as held (queue_id, scope, key, job_id, states)
    values (number, enqueue.name, enqueue.unique_key, new_id, '{scheduled,awaiting,enqueued,processing}')
    on conflict (queue_id, scope, key) do update set job_id = held.job_id
    returning held.job_id, held.states, coalesce(held.expires_at <= now(), false) as expired into holder;
    if holder.job_id <> new_id then
      -- A statement of its own, which sees the job that another transaction has just committed with the key.
      if not holder.expired and exists (
        select from (
          select case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state
          from longshore.job where queue_id = number and id = holder.job_id
          union all select 'enqueued' from longshore.job_held where queue_id = number and id = holder.job_id
          union all select 'scheduled' from longshore.job_waiting where queue_id = number and id = holder.job_id
          union all select 'awaiting' from longshore.job_awaiting where queue_id = number and id = holder.job_id
          union all select state from longshore.job_done where queue_id = number and id = holder.job_id
        ) as found
        where state = any (holder.states)
      ) then
        return holder.job_id;
      end if;
      update longshore.job_unique as held
      set job_id = new_id, states = '{scheduled,awaiting,enqueued,processing}', expires_at = null
      where queue_id = number and scope = enqueue.name and key = enqueue.unique_key;
    end if;
  end if;
  if enqueue.concurrency_key is not null then
    meta := jsonb_build_object('concurrencyKey', enqueue.concurrency_key, 'concurrencyLimit', enqueue.concurrency_limit);
  end if;
  if enqueue.run_at is not null then
    insert into longshore.job_waiting (queue_id, id, name, priority, max_attempts, args, meta, run_at)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, meta, enqueue.run_at);
  elsif meta is null then
    insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args);
  else
    -- A server lets it in when its key has room.
    insert into longshore.job_held (queue_id, id, name, priority, max_attempts, args, meta)
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args, meta);
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    values (number, new_id, 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', enqueue.concurrency_key));
  end if;
  insert into longshore.job_count (queue_id, state, jobs)
  values (number, case when enqueue.run_at is null then 'enqueued' else 'scheduled' end::longshore.job_state, 1);
  return new_id;
end
$$;
