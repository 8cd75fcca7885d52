-- Up Migration

-- The bounds of `bounds.ts`, kept by the tables themselves: no row can hold a time, a delay, a priority or a number of attempts
-- that another process cannot read or move. `not valid`: no table is read for them while it is locked; what is there already is
-- brought within the bounds below. Padding rows (queues below 0) are exempt.
-- A migration that cannot get its lock within two seconds gives up and tries again (`migrate.ts`), because others queue behind it.
set local lock_timeout = '2s';

-- No more than what could stop a claim, which counts attempts in a smallint: each enqueue and each claim pays for it.
alter table job add constraint job_bounds check (
  priority between -100 and 100 and attempt <= 10000 or queue_id < 0
) not valid;

alter table job_held add constraint job_held_bounds check (
  (priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
    and jsonb_typeof(meta -> 'concurrencyKey') = 'string'
    and case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
      then (meta -> 'concurrencyLimit')::numeric between 1 and 10000 else false end) is true
  or queue_id < 0
) not valid;

alter table job_waiting add constraint job_waiting_bounds check (
  priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
    and run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z'
  or queue_id < 0
) not valid;

alter table job_awaiting add constraint job_awaiting_bounds check (
  priority between -100 and 100 and attempt between 0 and 10000 and max_attempts between 1 and 10000
    and (run_at is null or run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z')
    and (delay_ms is null or delay_ms between 0 and 315360000000)
  or queue_id < 0
) not valid;

alter table recurring_job add constraint recurring_job_bounds check (
  priority between -100 and 100 and max_attempts between 1 and 1000 and misfire_limit between 1 and 1000
    and (next_due_at is null or next_due_at >= '1970-01-01T00:00:00Z' and next_due_at < '10000-01-01T00:00:00Z')
    and (concurrency_limit is null or concurrency_limit between 1 and 10000)
) not valid;

alter table job_unique add constraint job_unique_bounds check (
  expires_at is null or expires_at >= '1970-01-01T00:00:00Z' and expires_at < '10000-01-01T00:00:00Z'
) not valid;

alter table queue add constraint queue_bounds check (
  (concurrency_limit is null or concurrency_limit between 1 and 1000000)
    and (rate_limit is null or (
      jsonb_typeof(rate_limit -> 'jobs') = 'number' and jsonb_typeof(rate_limit -> 'periodMs') = 'number'
        and jsonb_typeof(rate_limit -> 'burst') = 'number') is true)
) not valid;

-- What is beyond the bounds becomes the nearest that is within them; what cannot be read, the strictest.
update job set priority = least(greatest(priority, -100), 100)
from queue where job.queue_id = queue.id and priority < -100;
update job set priority = least(greatest(priority, -100), 100)
from queue where job.queue_id = queue.id and priority > 100;

update job_waiting
set run_at = least(greatest(run_at, '1970-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z'),
  priority = least(greatest(priority, -100), 100)
where queue_id > 0 and not (
  priority between -100 and 100 and run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z'
);

update job_awaiting
set run_at = case when run_at is not null then least(greatest(run_at, '1970-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z') end,
  delay_ms = case when delay_ms is not null then least(greatest(delay_ms, 0), 315360000000) end,
  priority = least(greatest(priority, -100), 100)
where queue_id > 0 and not (
  priority between -100 and 100
    and (run_at is null or run_at >= '1970-01-01T00:00:00Z' and run_at < '10000-01-01T00:00:00Z')
    and (delay_ms is null or delay_ms between 0 and 315360000000)
);

update job_held
set priority = least(greatest(priority, -100), 100),
  meta = meta || jsonb_build_object('concurrencyLimit', case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
    then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000) else 1 end)
where queue_id > 0 and not (
  priority between -100 and 100
    and case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
      then (meta -> 'concurrencyLimit')::numeric between 1 and 10000 else false end
);

update recurring_job
set priority = least(greatest(priority, -100), 100),
  next_due_at = case when next_due_at is not null
    then least(greatest(next_due_at, '1970-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z') end
where not (
  priority between -100 and 100
    and (next_due_at is null or next_due_at >= '1970-01-01T00:00:00Z' and next_due_at < '10000-01-01T00:00:00Z')
);

-- As before, within the bounds.
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
  if enqueue.priority not between -100 and 100 then
    raise invalid_parameter_value using message = format('priority is -100 to 100, not %s', enqueue.priority);
  end if;
  if enqueue.run_at < '1970-01-01T00:00:00Z' or enqueue.run_at >= '10000-01-01T00:00:00Z' then
    raise invalid_parameter_value using message = format('run_at is a time from 1970 to 9999, not %s', enqueue.run_at);
  end if;
  if jsonb_path_exists(enqueue.args, 'strict $.**{101}') then
    raise invalid_parameter_value using message = 'args are nested more than 100 levels deep';
  end if;
  if octet_length(enqueue.args::text) > 67108864 then
    raise invalid_parameter_value using message = 'args take more than 67108864 bytes as JSON';
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

-- What background work could not deal with, for a reason of its own data: everything else goes on without it. Tried again
-- after a minute, and after twice as long each time, up to an hour; `discarded_at`: somebody gave it up.
create table set_aside (
  id bigint generated always as identity primary key,
  role text not null,
  -- What it is to its role: the id of a job, of a recurring job, the number of a move, the name of a chore.
  key text not null,
  -- The job that it is about and its queue, if it is about one.
  queue_id integer,
  job_id uuid,
  -- What it takes to try again what is kept nowhere else.
  item jsonb,
  error jsonb not null,
  failures integer not null default 1,
  created_at timestamptz not null default now(),
  failed_at timestamptz not null default now(),
  retry_at timestamptz not null default now() + interval '1 minute',
  discarded_at timestamptz,
  unique (role, key)
);
