-- Up Migration

-- If a small table changes often, dead rows accumulate in it while any transaction stays open, and every read has to
-- skip them. Rewriting the table removes them. Both functions return whether the table was rewritten. They wait at most
-- 50 ms for their lock, because all later statements on the table queue up behind them.

-- Rewrites job_count and folds its rows, as `foldCounts` does.
create function rewrite_counts() returns boolean language plpgsql as $$
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

-- Rewrites a table other than job_count. Returns false if the table has more than `most` live rows, because the live
-- rows then account for its size.
create function rewrite_small_table(part regclass, most integer) returns boolean language plpgsql as $$
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
