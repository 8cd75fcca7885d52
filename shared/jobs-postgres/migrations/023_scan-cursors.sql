-- Up Migration

-- How many jobs a lost server ran at once: the jobs that it had claimed beyond those were never started.
alter table server_lost add column concurrency integer;

-- Priorities other than 0 that jobs of the queue have had. A scan that begins behind a cursor has to know them (docs/adr/013).
alter table queue add column priorities smallint[] not null default '{}';

-- Places in a queue's order that become visible late: a transaction of the caller's took them, and others passed them before it
-- committed. Found by the transaction's number, so that a scan need not go back over the dead entries of finished jobs.
create table job_gap (
  xid xid8 not null default pg_current_xact_id(),
  queue_id integer not null,
  priority smallint not null,
  first_seq bigint not null,
  last_seq bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index job_gap_xid on job_gap (xid);

-- As before; the priority is noted with the queue, and the place of a ready job as a gap: the caller's transaction may last.
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
  place bigint;
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
  if enqueue.priority <> 0 then
    update longshore.queue
    set priorities = array(select distinct p from unnest(priorities || enqueue.priority::smallint) as p order by p)
    where id = number and not priorities @> array[enqueue.priority::smallint];
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
    values (number, new_id, enqueue.name, enqueue.priority, enqueue.max_attempts, enqueue.args)
    returning seq into place;
    insert into longshore.job_gap (queue_id, priority, first_seq, last_seq) values (number, enqueue.priority, place, place);
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

-- A small table that many statements change collects dead rows for as long as any transaction stays open, and every read
-- passes them all. Emptied and filled again, it is as long as its live rows; waits only an instant for its lock, since
-- later statements queue behind it. Both functions return whether the table was rewritten.

-- The changes are folded together on the way (see `foldCounts`).
create function rewrite_counts() returns boolean language plpgsql as $$
declare
  queues integer[];
  states longshore.job_state[];
  sums bigint[];
begin
  if not pg_try_advisory_xact_lock('longshore.job_count'::regclass::oid::bigint) then
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

-- Not if it has more than `most` live rows: then it is large because it holds much.
create function rewrite_small_table(part regclass, most integer) returns boolean language plpgsql as $$
declare
  live integer;
begin
  if not pg_try_advisory_xact_lock(part::oid::bigint) then
    return false;
  end if;
  execute format('select count(*) from (select from %s limit %s) as counted', part, most + 1) into live;
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
