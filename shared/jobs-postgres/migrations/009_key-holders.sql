-- Up Migration

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
create or replace function take_unique_key(number integer, namespace text, key text, new_id uuid) returns uuid language plpgsql as $$
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
