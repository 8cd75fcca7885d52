-- Every statement whose text does not depend on the request, as Postgres gets it.
--
--   src/bulk/bulk-chunk.sql.ts (8 statements)
--   src/claim/claims.sql.ts (4 statements)
--   src/claim/held-claims.sql.ts (3 statements)
--   src/complete/completions.sql.ts (16 statements)
--   src/connection/database-clock.ts (1 statement)
--   src/connection/database.sql.ts (2 statements)
--   src/connection/run.ts (1 statement)
--   src/connection/session.ts (2 statements)
--   src/control/job-editor.sql.ts (15 statements)
--   src/control/job-types.ts (6 statements)
--   src/control/queue-heads.ts (2 statements)
--   src/control/queues.sql.ts (11 statements)
--   src/control/quotas.ts (6 statements)
--   src/dependencies/batches.sql.ts (10 statements)
--   src/dependencies/blocking-keys.sql.ts (1 statement)
--   src/dependencies/concurrency-keys.sql.ts (12 statements)
--   src/dependencies/skipped-jobs.ts (2 statements)
--   src/enqueue/direct-inserts.ts (1 statement)
--   src/enqueue/replace-jobs.sql.ts (1 statement)
--   src/enqueue/unique-keys.sql.ts (5 statements)
--   src/history/history-days.ts (9 statements)
--   src/history/history-indexes.ts (3 statements)
--   src/jobs/awaited-signals.sql.ts (2 statements)
--   src/jobs/awaiting-jobs.sql.ts (4 statements)
--   src/jobs/dependencies.sql.ts (16 statements)
--   src/jobs/find-jobs.sql.ts (4 statements)
--   src/jobs/inserts.sql.ts (7 statements)
--   src/jobs/job-control.sql.ts (8 statements)
--   src/jobs/job-documents.ts (6 statements)
--   src/jobs/job-moves.sql.ts (19 statements)
--   src/jobs/job-transitions.sql.ts (1 statement)
--   src/jobs/outbox.sql.ts (3 statements)
--   src/jobs/ready-scans.sql.ts (7 statements)
--   src/jobs/reports.sql.ts (4 statements)
--   src/jobs/signals.sql.ts (8 statements)
--   src/maintain/bloat-control.ts (2 statements)
--   src/maintain/chores.ts (1 statement)
--   src/maintain/promotion.sql.ts (4 statements)
--   src/maintain/rescue.sql.ts (5 statements)
--   src/maintain/resumptions.ts (3 statements)
--   src/notifications/notification-payload.ts (2 statements)
--   src/queues/counters.ts (5 statements)
--   src/queues/queue-id-cache.ts (9 statements)
--   src/read/failures.sql.ts (4 statements)
--   src/read/feed.sql.ts (8 statements)
--   src/read/leases.ts (2 statements)
--   src/read/sorted-jobs.sql.ts (1 statement)
--   src/records/alerts.ts (9 statements)
--   src/records/audit.ts (8 statements)
--   src/records/bulk-operations.sql.ts (13 statements)
--   src/records/deployments.ts (8 statements)
--   src/records/incidents.ts (9 statements)
--   src/records/installation.ts (6 statements)
--   src/records/saved-searches.ts (5 statements)
--   src/records/set-aside.ts (12 statements)
--   src/records/warning-rules.ts (3 statements)
--   src/recurring/recurring-jobs.sql.ts (21 statements)
--   src/servers/servers.sql.ts (8 statements)
--   src/statistics/error-groups.sql.ts (3 statements)
--   src/statistics/statistics.ts (3 statements)
--   src/statistics/timings.sql.ts (10 statements)
--   src/steps/steps.sql.ts (7 statements)

-- ==== src/bulk/bulk-chunk.sql.ts ====

-- longshore-bulk-window-awaiting
select queue_id, id from longshore.job_awaiting
where (queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid) order by queue_id, id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-blocked
select queue_id, id from longshore.job_blocked
where (queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid) order by queue_id, id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-cancelled
select 0 as queue_id, id from longshore.job_history_cancelled
where id > $2::uuid and id <= $4::uuid and $1::integer <= $3::integer order by id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-done
select 0 as queue_id, id from longshore.job_history_done
where id > $2::uuid and id <= $4::uuid and $1::integer <= $3::integer order by id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-failed
select 0 as queue_id, id from longshore.job_history_failed
where id > $2::uuid and id <= $4::uuid and $1::integer <= $3::integer order by id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-ready
select queue_id, id from longshore.job
where (queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid) order by queue_id, id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-running
select queue_id, id from longshore.job
where (queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid) order by queue_id, id offset $5::integer - 1 limit 1;

-- longshore-bulk-window-scheduled
select queue_id, id from longshore.job_scheduled
where (queue_id, id) > ($1::integer, $2::uuid) and (queue_id, id) <= ($3::integer, $4::uuid) order by queue_id, id offset $5::integer - 1 limit 1;

-- ==== src/claim/claims.sql.ts ====

-- longshore-claim-ready
with names as materialized (
  select job_names as handled, array(select name from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true))) as paused, array(select job_id from longshore.job_cancellation where queue_id = $1) as to_cancel
  from longshore.server where id = $2),
candidate as materialized (
  select next.at
  from unnest($5::smallint[], $6::bigint[], $7::bigint[]) as range (priority, after, up_to)
  cross join lateral (
    select job.ctid as at from longshore.job
    where job.queue_id = $1 and job.priority = range.priority and job.seq > range.after and job.seq <= range.up_to
      and job.server_id is null and coalesce(name = any ((select handled from names)::text[]), true)
      and name <> all ((select paused from names)::text[]) and job.id <> all ((select to_cancel from names)::uuid[])
      and not exists (
    select 1 from longshore.queue
    where id = $1 and ((paused_at is not null and coalesce(paused_until > now(), true)) or concurrency_limit is not null or rate_limit is not null))
    order by job.seq limit $3
    for update skip locked
  ) as next
  limit $3),
alive as materialized (
  select id from longshore.server where id = $2 and exists (select 1 from candidate) for key share
),
claimed as (
  update longshore.job
  set server_id = $2, attempt = job.attempt + 1, started_at = case when job.created_at between clock_timestamp() and clock_timestamp() + interval '1 minute' then job.created_at else clock_timestamp() end,
    lease_until = now() + $4::float8 * interval '1 millisecond'
  from candidate, alive
  where job.queue_id = $1 and job.ctid = candidate.at
  returning job.id, job.seq, job.priority, job.attempt, job.max_attempts, job.name, job.args,
    date_part('epoch', job.created_at) * 1000 as created_ms,
    date_part('epoch', nullif(job.ready_at, job.created_at)) * 1000 as later_ready_ms,
    date_part('epoch', job.due_at) * 1000 as earlier_due_ms, job.meta
),
total as materialized (
  select count(*) as jobs, coalesce(bool_or(attempt >= max_attempts), true) as has_last_attempt from claimed
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from total, (values ('enqueued'::longshore.job_state, -1), ('processing', 1)) as change (state, sign)
  where total.jobs > 0
)
select claimed.*, case when claimed.id is null then exists (select 1 from longshore.server where id = $2) end as alive,
  case when claimed.id is null then exists (
    select 1 from longshore.queue where id = $1 and (concurrency_limit is not null or rate_limit is not null)
  ) end as limited,
  case when claimed.id is null then exists (select 1 from longshore.queue where id = $1 and (paused_at is not null and coalesce(paused_until > now(), true))) end as paused
from (values (1)) as one left join claimed on true
where (select count(set_config('synchronous_commit', 'off', true)) from total where not (has_last_attempt or (select stats_reset from pg_stat_get_wal()) > greatest(pg_postmaster_start_time(), now() - interval '10 minutes'))) >= 0;

-- longshore-claim-within-limits
with setting as materialized (
  select not (paused_at is not null and coalesce(paused_until > now(), true)) as open, concurrency_limit, rate_limit, refill, clock.now,
    least((rate_limit -> 'burst')::float8, bucket.tokens + refill *
      greatest(0, extract(epoch from clock.now - bucket.refilled_at)::float8 * 1000)) as tokens
  from longshore.queue
  left join longshore.queue_bucket as bucket on bucket.queue_id = queue.id
  cross join lateral (
    select (rate_limit -> 'jobs')::float8 / (rate_limit -> 'periodMs')::float8 as refill, clock_timestamp() as now
  ) as clock
  where queue.id = $1
),
room as materialized (
  select greatest(0, least($3::bigint, floor(tokens + 1e-6)::bigint, concurrency_limit - (
      select coalesce(sum(jobs), 0)::bigint from longshore.job_count where queue_id = $1 and state = 'processing'
    ))) as jobs
  from setting where open
),
names as materialized (
  select job_names as handled, array(select name from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true))) as paused, array(select job_id from longshore.job_cancellation where queue_id = $1) as to_cancel
  from longshore.server where id = $2),
candidate as materialized (
  select next.at
  from unnest($5::smallint[], $6::bigint[], $7::bigint[]) as range (priority, after, up_to)
  cross join lateral (
    select job.ctid as at from longshore.job
    where job.queue_id = $1 and job.priority = range.priority and job.seq > range.after and job.seq <= range.up_to
      and job.server_id is null and coalesce(name = any ((select handled from names)::text[]), true)
      and name <> all ((select paused from names)::text[]) and job.id <> all ((select to_cancel from names)::uuid[]) and true
    order by job.seq limit coalesce((select jobs from room), 0)
    for update skip locked
  ) as next
  limit coalesce((select jobs from room), 0)),
alive as materialized (
  select id from longshore.server where id = $2 and exists (select 1 from candidate) for key share
),
claimed as (
  update longshore.job
  set server_id = $2, attempt = job.attempt + 1, started_at = case when job.created_at between clock_timestamp() and clock_timestamp() + interval '1 minute' then job.created_at else clock_timestamp() end,
    lease_until = now() + $4::float8 * interval '1 millisecond'
  from candidate, alive
  where job.queue_id = $1 and job.ctid = candidate.at
  returning job.id, job.seq, job.priority, job.attempt, job.max_attempts, job.name, job.args,
    date_part('epoch', job.created_at) * 1000 as created_ms,
    date_part('epoch', nullif(job.ready_at, job.created_at)) * 1000 as later_ready_ms,
    date_part('epoch', job.due_at) * 1000 as earlier_due_ms, job.meta
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from (select count(*) as jobs from claimed) as total,
    (values ('enqueued'::longshore.job_state, -1), ('processing', 1)) as change (state, sign)
  where total.jobs > 0
),
spent as (
  update longshore.queue_bucket as bucket
  set tokens = setting.tokens - total.jobs, refilled_at = setting.now
  from setting, (select count(*) as jobs from claimed) as total
  where bucket.queue_id = $1 and setting.tokens is not null and total.jobs > 0
)
select exists (select 1 from longshore.server where id = $2) as alive, claimed.*,
  concurrency_limit is not null or rate_limit is not null as limited, not open as paused,
  coalesce((select jobs from room), 0)::integer as room,
  greatest(0, 1 - tokens + (select count(*) from claimed)) / refill as token_in
from setting left join claimed on true;

-- longshore-lock-bucket
select 1 from longshore.queue_bucket where queue_id = $1 for update;

-- longshore-make-bucket
insert into longshore.queue_bucket as bucket (queue_id, tokens) values ($1, $2)
on conflict (queue_id) do update set tokens = bucket.tokens;

-- ==== src/claim/held-claims.sql.ts ====

-- longshore-release-claims
with held as materialized (
  select job.queue_id, job.id, job.server_id, job.attempt, job.run_at, job.ready_at, job.started_at, job.priority, job.seq
  from unnest($2::uuid[], $3::uuid[], $4::smallint[]) as claim (id, server_id, attempt)
  join longshore.job on job.queue_id = $1 and job.id = claim.id
    and job.server_id = claim.server_id and job.attempt = claim.attempt
),
released as (
  update longshore.job
  set server_id = null, attempt = job.attempt - 1, started_at = null, lease_until = null
  from held
  where job.queue_id = $1 and job.id = held.id
    and job.server_id = held.server_id and job.attempt = held.attempt
  returning held.*
),

transitions as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
  select queue_id, id, now(), -1, attempt, now(), 'released', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
  from released
  on conflict do nothing
),

gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from released group by queue_id, priority
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from (select count(*) as jobs from released) as total,
    (values ('processing'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
  where total.jobs > 0
)
select id, attempt from released;

-- longshore-renew-claims
with held as materialized (
  select job.id, job.attempt
  from unnest($2::uuid[], $3::uuid[], $4::smallint[]) as claim (id, server_id, attempt)
  join longshore.job on job.queue_id = $1 and job.id = claim.id
    and job.server_id = claim.server_id and job.attempt = claim.attempt
),
free as materialized (
  select id from longshore.job
  where queue_id = $1 and id in (select id from held)
  order by id
  for update skip locked
),
renewed as (
  update longshore.job set lease_until = now() + $5::float8 * interval '1 millisecond'
  from free where job.queue_id = $1 and job.id = free.id
)
select id, attempt from held;

-- longshore-select-claims
select id, attempt
from (
  select id, attempt, server_id from longshore.job
  where queue_id = $1 and server_id is not null
  order by priority, seq
  limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = $1 and state = 'processing')
) as running
where server_id = $2;

-- ==== src/complete/completions.sql.ts ====

-- longshore-already-finished
select claim.id, claim.attempt
from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as claim (id, server_id, attempt)
where exists (
    select 1 from longshore.job_history as job
    where job.id = claim.id and job.server_id = claim.server_id and job.attempt = claim.attempt)
  or exists (
    select 1 from longshore.queue join longshore.job_scheduled as job on job.queue_id = queue.id
    where job.id = claim.id and job.past_attempts @> jsonb_build_array(
      jsonb_build_object('attempt', claim.attempt, 'serverId', claim.server_id, 'outcome', 'failed'))
      or job.id = claim.id and job.meta ? 'awaits' and job.attempt = claim.attempt - 1);

-- longshore-finish-cancelled
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, error)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
      returning job.*, finished.error
    ),
    history as (
      insert into longshore.job_history_cancelled (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed
    ),
    request as (
      delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('cancelled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-cancelled-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, error)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
      returning job.*, finished.error
    ),
    history as (
      insert into longshore.job_history_cancelled (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed
    ),
    request as (
      delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'cancelled', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('cancelled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-done
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, result)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
      returning job.*, finished.result
    ),
    history as (
      insert into longshore.job_history_done (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, result) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, result from removed
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('done', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select jobs from total;

-- longshore-finish-done-alike
with removed as (
  delete from longshore.job
  where job.queue_id = $1 and job.id = any($2::uuid[]) and job.server_id = $3 and job.attempt = $4
    and case when job.meta is null then true end
  returning job.*
),
history as (
  insert into longshore.job_history_done (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts from removed
),
total as materialized (select count(*)::integer as jobs from removed),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from total, (values ('processing'::longshore.job_state, -1), ('done', 1)) as change (state, sign)
  where total.jobs > 0
)
select jobs from total;

-- longshore-finish-done-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, result)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
      returning job.*, finished.result
    ),
    history as (
      insert into longshore.job_history_done (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, result) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, result from removed
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'done', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('done', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select jobs from total;

-- longshore-finish-failed
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, error)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.error
    ),
    history as (
      insert into longshore.job_history_failed (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('failed', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-failed-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[]) as finished (id, attempt, error)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.error
    ),
    history as (
      insert into longshore.job_history_failed (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error) select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'failed', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('failed', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-retry
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[], $6::float8[]) as finished (id, attempt, error, delay)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.error, finished.delay
    ),
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, case when delay is not null then now() + least(greatest(delay, 0), 315360000000) * interval '1 millisecond' end, priority, attempt, max_attempts, name, args,
        meta, now(), case when past_attempts -> 98 is not null then past_attempts - 1
  else coalesce(past_attempts, '[]') end || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from removed
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-retry-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::jsonb[], $6::float8[]) as finished (id, attempt, error, delay)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.error, finished.delay
    ),
    waiting as (
      insert into longshore.job_scheduled
        (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, retried_at, past_attempts)
      select queue_id, id, created_at, case when delay is not null then now() + least(greatest(delay, 0), 315360000000) * interval '1 millisecond' end, priority, attempt, max_attempts, name, args,
        case when meta ? 'awaits' then nullif(meta - array['awaits', 'cancels'], '{}') else meta end, now(), case when past_attempts -> 98 is not null then past_attempts - 1
  else coalesce(past_attempts, '[]') end || jsonb_build_object(
          'attempt', attempt, 'outcome', 'failed', 'serverId', server_id, 'startedAt', started_at, 'finishedAt', now(), 'error', error,
          'runAt', run_at, 'readyAt', ready_at)
      from removed
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'scheduled', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-snooze
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::float8[]) as finished (id, attempt, delay)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.delay
    ),
    waiting as (
      insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
      select queue_id, id, created_at, case when delay is not null then now() + least(greatest(delay, 0), 315360000000) * interval '1 millisecond' end, priority, attempt - 1, max_attempts, name,
        args, meta, past_attempts
      from removed
    ),

    transitions as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), 'snoozed', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
      from removed
      on conflict do nothing
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-snooze-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::float8[]) as finished (id, attempt, delay)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.delay
    ),
    waiting as (
      insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
      select queue_id, id, created_at, case when delay is not null then now() + least(greatest(delay, 0), 315360000000) * interval '1 millisecond' end, priority, attempt - 1, max_attempts, name,
        args, case when meta ? 'awaits' then nullif(meta - array['awaits', 'cancels'], '{}') else meta end, past_attempts
      from removed
    ),

    transitions as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), 'snoozed', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
      from removed
      on conflict do nothing
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'scheduled', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-suspend
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::timestamptz[], $6::jsonb[]) as finished (id, attempt, until, waits)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt and case when job.meta is null then true end
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.until, finished.waits
    ),
    waiting as (
      insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
      select queue_id, id, created_at, case when exists (
          select 1 from jsonb_each_text(waits -> 'awaits') as awaited (name, needed)
          where (
            select count(*) from longshore.job_signal as signal
            where signal.queue_id = $1 and signal.job_id = removed.id and signal.name = awaited.name
          ) >= awaited.needed::integer) then now() else greatest(until, now()) end,
        priority, attempt - 1, max_attempts, name, args, coalesce(meta - 'cancels', '{}') || waits, past_attempts
      from removed
    ),

    transitions as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), 'suspended', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
      from removed
      on conflict do nothing
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-finish-suspend-any
with
    removed as (
      delete from longshore.job
      using unnest($2::uuid[], $4::smallint[], $5::timestamptz[], $6::jsonb[]) as finished (id, attempt, until, waits)
      where job.queue_id = $1 and job.id = finished.id and job.server_id = $3 and job.attempt = finished.attempt
        and not exists (
          select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id)
      returning job.*, finished.until, finished.waits
    ),
    waiting as (
      insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
      select queue_id, id, created_at, case when exists (
          select 1 from jsonb_each_text(waits -> 'awaits') as awaited (name, needed)
          where (
            select count(*) from longshore.job_signal as signal
            where signal.queue_id = $1 and signal.job_id = removed.id and signal.name = awaited.name
          ) >= awaited.needed::integer) then now() else greatest(until, now()) end,
        priority, attempt - 1, max_attempts, name, args, coalesce(meta - 'cancels', '{}') || waits, past_attempts
      from removed
    ),

    transitions as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), 'suspended', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
      from removed
      on conflict do nothing
    ),
    outbox_entries as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'processing', 'scheduled', meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
    ),
    total as materialized (select count(*)::integer as jobs from removed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from total, (values ('processing'::longshore.job_state, -1), ('scheduled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select id, attempt from removed;

-- longshore-lock-claim
select meta from longshore.job where queue_id = $1 and id = $2 and server_id = $3 and attempt = $4 for share;

-- longshore-lock-claims
select job.id from longshore.job
where job.queue_id = $1 and job.id = any($2::uuid[]) and job.server_id = $3 and job.attempt = any($4::smallint[])
order by job.id for update;

-- ==== src/connection/database-clock.ts ====

-- longshore-select-clock
select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms;

-- ==== src/connection/database.sql.ts ====

-- longshore-end-transaction
select pg_terminate_backend(pid, 1000) from pg_stat_activity
where pid = $1 and application_name = $2 and datname = current_database() and usename = current_user;

-- longshore-lock-queues
select pg_advisory_xact_lock(longshore.lock_key('job', id))::text
from (select distinct id from unnest($1::integer[]) as id order by id) as queue;

-- ==== src/connection/run.ts ====

-- longshore-notify-on-commit
select longshore.notify_on_commit('kinds')::pg_catalog.text;

-- ==== src/connection/session.ts ====

-- longshore-enter-session
select pg_catalog.set_config('job_session.search_path', pg_catalog.current_setting('search_path'), true),
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), longshore.enter_session();

-- longshore-leave-session
select longshore.leave_session(),
  pg_catalog.set_config('search_path', pg_catalog.current_setting('job_session.search_path'), true);

-- ==== src/control/job-editor.sql.ts ====

-- longshore-change-queue-job
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
removed as (
  delete from longshore.job as job using edit where job.queue_id = $1 and job.id = edit.id
  returning job.*, edit.args as new_args, edit.priority as new_priority, edit.run_at as new_run_at, edit.to_queue,
    coalesce(edit.max_attempts, job.max_attempts) as new_max_attempts, case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end as new_meta
),
edited as (
  select to_queue as queue_id, id, created_at, case when date_trunc('milliseconds', run_at) is not distinct from date_trunc('milliseconds', new_run_at) then run_at else greatest(new_run_at, now()) end as run_at,
    new_priority as priority, attempt, new_max_attempts as max_attempts, name, new_args as args, new_meta as meta, past_attempts, not (date_trunc('milliseconds', run_at) is not distinct from date_trunc('milliseconds', new_run_at)) as waits,
    coalesce(due_at, ready_at) as due_at
  from removed
),
arriving as (select * from edited where not waits),

ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where coalesce(meta ? 'concurrencyKey', false) order by id
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
waiting as (insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from edited where waits),

outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'enqueued'::longshore.job_state, 'enqueued'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
)
insert into longshore.job_count (queue_id, state, jobs)
select queue_id, case when waits then 'scheduled' else 'enqueued' end::longshore.job_state, count(*)
from edited group by 1, 2
union all select $1, 'enqueued', -count(*) from edited having count(*) > 0;

-- longshore-change-queue-job_blocked
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
removed as (
  delete from longshore.job_blocked as job using edit where job.queue_id = $1 and job.id = edit.id
  returning job.*, edit.args as new_args, edit.priority as new_priority, edit.run_at as new_run_at, edit.to_queue,
    coalesce(edit.max_attempts, job.max_attempts) as new_max_attempts, case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end as new_meta
),
edited as (
  select to_queue as queue_id, id, created_at, case when date_trunc('milliseconds', run_at) is not distinct from date_trunc('milliseconds', new_run_at) then run_at else greatest(new_run_at, now()) end as run_at,
    new_priority as priority, attempt, new_max_attempts as max_attempts, name, new_args as args, new_meta as meta, past_attempts, not (date_trunc('milliseconds', run_at) is not distinct from date_trunc('milliseconds', new_run_at)) as waits,
    due_at
  from removed
),
arriving as (select * from edited where not waits),

ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where coalesce(meta ? 'concurrencyKey', false) order by id
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
waiting as (insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from edited where waits),

outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'enqueued'::longshore.job_state, 'enqueued'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
)
insert into longshore.job_count (queue_id, state, jobs)
select queue_id, case when waits then 'scheduled' else 'enqueued' end::longshore.job_state, count(*)
from edited group by 1, 2
union all select $1, 'enqueued', -count(*) from edited having count(*) > 0;

-- longshore-change-queue-related-rows
with moved as materialized (select * from unnest($2::uuid[], $3::integer[]) as moved (id, to_queue)),
recorded as (
  insert into longshore.moved_job (job_id, queue_id) select id, to_queue from moved order by id
  on conflict (job_id) do update set queue_id = excluded.queue_id
),
withdrawn as (
  delete from longshore.job_cancellation as request using moved
  where request.queue_id = $1 and request.job_id = moved.id
  returning moved.to_queue, request.job_id, request.requested_at, request.reason
),
requested as (
  insert into longshore.job_cancellation (queue_id, job_id, requested_at, reason) select * from withdrawn
  on conflict (queue_id, job_id) do nothing
),
dependencies as (
  update longshore.job_dependency as dependency set queue_id = moved.to_queue, marked = resolved_at is not null
  from moved where dependency.child_id = moved.id
),
aside as (
  update longshore.set_aside set queue_id = moved.to_queue from moved where set_aside.job_id = moved.id
),
steps as (
  update longshore.job_step as step set queue_id = moved.to_queue from moved where step.queue_id = $1 and step.job_id = moved.id
),
signals as (
  update longshore.job_signal as signal set queue_id = moved.to_queue from moved where signal.queue_id = $1 and signal.job_id = moved.id
),
noted as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select place, id, 'processing'::longshore.job_state, 'processing'::longshore.job_state, '{"signalled": true}'::jsonb
  from moved, unnest(array[$1::integer, to_queue]) as place)
update longshore.job_report as report set queue_id = moved.to_queue
from moved
where report.queue_id = $1 and report.job_id = moved.id and report.started_at >= $4::timestamptz - interval '1 hour';

-- longshore-edit-job
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
edited as (
  update longshore.job as job set args = edit.args, priority = edit.priority, max_attempts = coalesce(edit.max_attempts, job.max_attempts),
    meta = case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end
  from edit where job.queue_id = $1 and job.id = edit.id
  returning job.queue_id, job.priority, job.seq
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from edited group by queue_id, priority
)
select 1 from edited;

-- longshore-edit-job_awaiting
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
edited as (
  update longshore.job_awaiting as job
  set queue_id = edit.to_queue, args = edit.args, priority = edit.priority, max_attempts = coalesce(edit.max_attempts, job.max_attempts),
    meta = case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end, run_at = case when date_trunc('milliseconds', job.run_at) is not distinct from date_trunc('milliseconds', edit.run_at) then job.run_at else edit.run_at end
  from edit where job.queue_id = $1 and job.id = edit.id
  returning job.queue_id
),
moved as (select queue_id, count(*) as jobs from edited where queue_id <> $1 group by queue_id)
insert into longshore.job_count (queue_id, state, jobs)
select queue_id, 'awaiting'::longshore.job_state, jobs from moved
union all select $1, 'awaiting'::longshore.job_state, -jobs from moved;

-- longshore-edit-job_blocked
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
edited as (
  update longshore.job_blocked as job set args = edit.args, priority = edit.priority, max_attempts = coalesce(edit.max_attempts, job.max_attempts),
    meta = case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end
  from edit where job.queue_id = $1 and job.id = edit.id
  returning job.queue_id, job.priority, job.seq
)
select 1 from edited;

-- longshore-edit-job_scheduled
with
edit as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
    unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
  ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
),
edited as (
  update longshore.job_scheduled as job
  set queue_id = edit.to_queue, args = edit.args, priority = edit.priority, max_attempts = coalesce(edit.max_attempts, job.max_attempts),
    meta = case when edit.tags = 'null' then job.meta else nullif(
    (case when jsonb_typeof(job.meta) = 'object' then job.meta else '{}' end) - 'tags'
      || case when edit.tags = '[]' then '{}' else jsonb_build_object('tags', edit.tags) end,
    '{}'
  ) end, run_at = greatest(case when date_trunc('milliseconds', job.run_at) is not distinct from date_trunc('milliseconds', edit.run_at) then job.run_at else edit.run_at end, now())
  from edit where job.queue_id = $1 and job.id = edit.id
  returning job.queue_id
),
moved as (select queue_id, count(*) as jobs from edited where queue_id <> $1 group by queue_id)
insert into longshore.job_count (queue_id, state, jobs)
select queue_id, 'scheduled'::longshore.job_state, jobs from moved
union all select $1, 'scheduled'::longshore.job_state, -jobs from moved;

-- longshore-lock-editable-job
select id, args::text as args from longshore.job
where queue_id = $1 and id = any($2::uuid[]) and server_id is null order by id for update;

-- longshore-lock-editable-job_awaiting
select id, args::text as args from longshore.job_awaiting
where queue_id = $1 and id = any($2::uuid[])  order by id for update;

-- longshore-lock-editable-job_blocked
select id, args::text as args from longshore.job_blocked
where queue_id = $1 and id = any($2::uuid[])  order by id for update;

-- longshore-lock-editable-job_scheduled
select id, args::text as args from longshore.job_scheduled
where queue_id = $1 and id = any($2::uuid[])  order by id for update;

-- longshore-lock-one-job
select id from longshore.job where queue_id = $1 and id = $2 and server_id is null for update;

-- longshore-lock-one-job_awaiting
select id from longshore.job_awaiting where queue_id = $1 and id = $2  for update;

-- longshore-lock-one-job_blocked
select id from longshore.job_blocked where queue_id = $1 and id = $2  for update;

-- longshore-lock-one-job_scheduled
select id from longshore.job_scheduled where queue_id = $1 and id = $2  for update;

-- ==== src/control/job-types.ts ====

-- longshore-lock-type
select pg_advisory_xact_lock(longshore.lock_key('paused_type', hashtext($1)))::text;

-- longshore-pause-type
insert into longshore.paused_type (name, paused_by, pause_reason, paused_until) values ($1, $2, $3, $4)
on conflict (name) do update set paused_at = now(), paused_by = $2, pause_reason = $3, paused_until = $4;

-- longshore-resume-type
with resumed as (
  delete from longshore.paused_type where name = $1 and true returning name
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from longshore.job
  where name in (select name from resumed) and server_id is null and queue_id > 0
  group by queue_id, priority
  returning queue_id
)
select distinct gap.queue_id from resumed left join gap on true;

-- longshore-resume-type-when-due
with resumed as (
  delete from longshore.paused_type where name = $1 and (paused_at is not null and paused_until <= now()) returning name
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from longshore.job
  where name in (select name from resumed) and server_id is null and queue_id > 0
  group by queue_id, priority
  returning queue_id
)
select distinct gap.queue_id from resumed left join gap on true;

-- longshore-select-paused-types
select name, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_at end as paused_at, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_by end as paused_by, case when (paused_at is not null and coalesce(paused_until > now(), true)) then pause_reason end as pause_reason, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_until end as paused_until from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true)) order by name collate "und-x-icu";

-- longshore-select-type-pause
select name, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_at end as paused_at, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_by end as paused_by, case when (paused_at is not null and coalesce(paused_until > now(), true)) then pause_reason end as pause_reason, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_until end as paused_until from longshore.paused_type where name = $1 and (paused_at is not null and coalesce(paused_until > now(), true));

-- ==== src/control/queue-heads.ts ====

-- longshore-select-heads
with recursive found as (
  select queue.id, first.*
  from longshore.queue cross join lateral (
    select priority, seq, ready_at from longshore.job where queue_id = queue.id and server_id is null
    order by priority, seq limit 1
  ) as first
  where ($1::integer is null or queue.id = $1) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
  union all
  select found.id, first.*
  from found cross join lateral (
    select priority, seq, ready_at from longshore.job
    where queue_id = found.id and priority > found.priority and server_id is null
    order by priority, seq limit 1
  ) as first
),
nearest as (select * from found limit 20000)
select
head.id, head.priority, head.seq, (extract(epoch from head.ready_at) * 1000)::float8 as ready_at,
  case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, job_seq.last_value as last,
  case when row_number() over () = 1 then null::text end as mark
from longshore.job_seq cross join (
  select id, priority, seq, ready_at from nearest
  union all
  select queue.id, null, null, null from longshore.queue where ($1::integer is null or queue.id = $1) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server)) and queue.id not in (select id from nearest)
) as head;

-- longshore-select-heads-from
select
head.id, head.priority, head.seq, (extract(epoch from head.ready_at) * 1000)::float8 as ready_at,
  case when row_number() over () = 1 then pg_current_snapshot()::text end as snapshot, job_seq.last_value as last,
  case when row_number() over () = 1 then pg_current_xact_id()::text end as mark
from longshore.job_seq cross join (
  select queue.id, first.*
  from longshore.queue left join lateral (
    select first.*
    from (select 0::smallint as priority union select unnest(queue.priorities)) as known
    cross join lateral (select $2::jsonb -> queue.id::text as places) as begun
    cross join lateral (
      select priority, seq, ready_at from longshore.job
      where queue_id = queue.id and priority = known.priority and server_id is null
        and seq >= coalesce((places ->> known.priority::text)::bigint, (places ->> 'rest')::bigint + 1, 0)
      order by seq limit 1
    ) as first
  ) as first on true
  where ($1::integer is null or queue.id = $1) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
) as head;

-- ==== src/control/queues.sql.ts ====

-- longshore-limit-queue
with bucket as (
  insert into longshore.queue_bucket (queue_id, tokens) values ($1, $6) on conflict do nothing
)
update longshore.queue
set concurrency_limit = case when $2::boolean then $3::integer else concurrency_limit end,
  rate_limit = case when $4::boolean then $5::jsonb else rate_limit end,
  retired_at = null, idle_since = null
where id = $1;

-- longshore-lock-new-queue
select pg_advisory_xact_lock(longshore.lock_key('new queue ' || $1::text))::text;

-- longshore-lock-queue
select case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_at end as paused_at, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_by end as paused_by, case when (paused_at is not null and coalesce(paused_until > now(), true)) then pause_reason end as pause_reason, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_until end as paused_until, concurrency_limit, rate_limit, in_code from longshore.queue
where id = $1 and (not $2::boolean or (
  (paused_at is not null and coalesce(paused_until > now(), true)) = $3::boolean
  and queue.concurrency_limit is not distinct from $4::integer
  and queue.rate_limit is not distinct from $5::jsonb))
for update;

-- longshore-pause-queue
update longshore.queue set paused_at = now(), paused_by = $2, pause_reason = $3, paused_until = $4, retired_at = null, idle_since = null where id = $1;

-- longshore-resume-queue
update longshore.queue set paused_at = null, paused_by = null, pause_reason = null, paused_until = null, retired_at = null, idle_since = null where id = $1;

-- longshore-retire-idle-queues
with looked_at as materialized (
  select id, idle_since, paused_at is null and concurrency_limit is null and rate_limit is null and in_code is null
    and not queue.id in (
  select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
) and not queue.name in (select unnest(server.queues) from longshore.server)
    and queue.name not in (select recurring_job.queue from longshore.recurring_job)
    and not exists (
  select 1 from longshore.throughput where throughput.queue_id = queue.id and throughput.at > queue.idle_since
) as idle
  from longshore.queue where retired_at is null
),
due as (
  select id, idle, idle_since, idle and coalesce(idle_since <= now() - $1 * interval '1 day', false) as retires
  from looked_at
)
update longshore.queue
set idle_since = case when idle and not retires then now() end, retired_at = case when retires then now() end
from due
where queue.id = due.id and queue.retired_at is null and queue.idle_since is not distinct from due.idle_since
  and (retires or due.idle <> (queue.idle_since is not null));

-- longshore-retire-queue
with found as materialized (
  select id, queue.id in (
  select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
) as holds_jobs, queue.name in (select unnest(server.queues) from longshore.server) as served
  from longshore.queue where name = $1 and (queue.retired_at is null or queue.id in (
  select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
) or queue.name in (select unnest(server.queues) from longshore.server))
),
retired as (
  update longshore.queue
  set retired_at = now(), idle_since = null, paused_at = null, paused_by = null, pause_reason = null, paused_until = null, concurrency_limit = null, rate_limit = null, in_code = null
  from found
  where queue.id = found.id and not found.holds_jobs and not found.served and (not $2::boolean or (
  (paused_at is not null and coalesce(paused_until > now(), true)) = $3::boolean
  and queue.concurrency_limit is not distinct from $4::integer
  and queue.rate_limit is not distinct from $5::jsonb))
  returning queue.id
)
select holds_jobs, served, exists (select 1 from retired) as retired from found;

-- longshore-return-queues
update longshore.queue set retired_at = null, idle_since = null where retired_at is not null and (queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server));

-- longshore-select-queues-in-code
select name, in_code from longshore.queue
where in_code is not null and (name = any($2::text[]) or in_code ->> 'application' = $1);

-- longshore-select-shown-queue
select id from longshore.queue where name = $1 and (queue.retired_at is null or queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server));

-- longshore-set-queue-in-code
update longshore.queue set in_code = $2::jsonb, retired_at = null, idle_since = null where id = $1;

-- ==== src/control/quotas.ts ====

-- longshore-count-creations
select count(*) filter (where creator = $2)::integer as by_caller, count(*)::integer as total
from longshore.creation where kind = $1
  and (kind <> 'queue' or not exists (select 1 from longshore.queue where queue.name = creation.item and queue.name in (select unnest(server.queues) from longshore.server)));

-- longshore-delete-queue-creations
delete from longshore.creation where kind = 'queue' and item = any($1::text[]);

-- longshore-delete-stale-creations
delete from longshore.creation as created
where kind = $1 and admitted_at < now() - $2::float8 * interval '1 millisecond' and not case created.kind
  when 'queue' then exists (select 1 from longshore.queue where queue.name = created.item and retired_at is null)
  when 'deployment' then exists (select 1 from longshore.deployment where deployment.id = created.item::uuid)
  else exists (select 1 from longshore.recurring_job where recurring_job.id = created.item)
end;

-- longshore-insert-creations
insert into longshore.creation (kind, item, creator)
select $1, item, $2 from unnest($3::text[]) as item
on conflict (kind, item) do nothing;

-- longshore-lock-creations
select pg_advisory_xact_lock(longshore.lock_key('creation ' || $1::text))::text;

-- longshore-select-coming-creations
select item from (select distinct $1::text as kind, item from unnest($2::text[]) as item) as created
where not case created.kind
  when 'queue' then exists (select 1 from longshore.queue where queue.name = created.item and retired_at is null)
  when 'deployment' then exists (select 1 from longshore.deployment where deployment.id = created.item::uuid)
  else exists (select 1 from longshore.recurring_job where recurring_job.id = created.item)
end
  and not exists (select 1 from longshore.creation where creation.kind = created.kind and creation.item = created.item)
order by item;

-- ==== src/dependencies/batches.sql.ts ====

-- longshore-count-batches
with change as materialized (
  select change.*, batch.finished_at as ended_at
  from unnest($1::uuid[], $2::integer[], $3::integer[], $4::integer[]) as change (id, done, failed, cancelled)
  join longshore.batch using (id)
),
counted as (
  update longshore.batch
  set done = batch.done + change.done, failed = batch.failed + change.failed,
    cancelled = batch.cancelled + change.cancelled,
    finished_at = case
      when batch.done + batch.failed + batch.cancelled + change.done + change.failed + change.cancelled <> batch.total then null
      when (change.done, change.failed, change.cancelled) = (0, 0, 0) then coalesce(ended_at, now())
      else now() end
  from change where batch.id = change.id
  returning batch.id, batch.done, batch.failed, batch.cancelled, batch.finished_at, ended_at
)
insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
select 0, id, 'processing',
  case when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state,
  '{"hasDependents": true}'
from counted where finished_at is not null and finished_at is distinct from ended_at
returning true as finished;

-- longshore-count-some-batches
select count(*)::integer as batches from (select 1 from longshore.batch where
    ($1::text[] is null or case when done + failed + cancelled < total then 'processing' when failed > 0 then 'failed'
      when cancelled > 0 then 'cancelled' else 'done' end = any($1))
    and ($2::text[] is null or name = any($2)) and ($5::timestamptz is null or finished_at >= $5)
    and ($6::timestamptz is null or finished_at < $6)
    and id >= coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
    and id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by id limit $7) as counted;

-- longshore-delete-old-batches
delete from longshore.batch where finished_at < now() - interval '30 days';

-- longshore-insert-batch
insert into longshore.batch (id, name, total, callback_id, callback_when, finished_at)
values ($1, $2, $3, $4, $5, case when $3::integer = 0 then now() end);

-- longshore-lock-batches
select 1 from longshore.batch where id = any($1::uuid[]) order by id for update;

-- longshore-select-batch
select id, name, total, done, failed, cancelled, callback_id, callback_when, created_at, finished_at from longshore.batch where id = $1;

-- longshore-select-batches
select id, name, total, done, failed, cancelled, callback_id, callback_when, created_at, finished_at from longshore.batch where id = any($1::uuid[]);

-- longshore-select-members-of-batch
  select queue_id, id, place from (
    select queue_id, id, 'awaiting' as place from longshore.job_awaiting where queue_id = any($1::integer[]) and meta ? 'batchId' and meta ->> 'batchId' = $2 union all
    select queue_id, id, 'scheduled' as place from longshore.job_scheduled where queue_id = any($1::integer[]) and meta ? 'batchId' and meta ->> 'batchId' = $2 union all
    select queue_id, id, 'blocked' as place from longshore.job_blocked where queue_id = any($1::integer[]) and meta ? 'batchId' and meta ->> 'batchId' = $2 union all
    select queue_id, id, case when server_id is null then 'ready' else 'running' end from longshore.job
    where queue_id = any($1::integer[]) and meta ? 'batchId' and meta ->> 'batchId' = $2 and (server_id is null or not exists (
select 1 from longshore.job_cancellation as request where request.queue_id = job.queue_id and request.job_id = job.id))
  ) as member limit $3;

-- longshore-select-newest-batches
select id, name, total, done, failed, cancelled, callback_id, callback_when, created_at, finished_at from longshore.batch
where
($1::text[] is null or case when done + failed + cancelled < total then 'processing' when failed > 0 then 'failed'
  when cancelled > 0 then 'cancelled' else 'done' end = any($1))
and ($2::text[] is null or name = any($2)) and ($5::timestamptz is null or finished_at >= $5)
and ($6::timestamptz is null or finished_at < $6)
and id >= coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
and id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and id < coalesce($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
order by id desc limit $7 offset $8;

-- longshore-select-oldest-batches
select id, name, total, done, failed, cancelled, callback_id, callback_when, created_at, finished_at from longshore.batch
where
($1::text[] is null or case when done + failed + cancelled < total then 'processing' when failed > 0 then 'failed'
  when cancelled > 0 then 'cancelled' else 'done' end = any($1))
and ($2::text[] is null or name = any($2)) and ($5::timestamptz is null or finished_at >= $5)
and ($6::timestamptz is null or finished_at < $6)
and id >= coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
and id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and id > coalesce($9::uuid, '00000000-0000-0000-0000-000000000000')
order by id limit $7 offset $8;

-- ==== src/dependencies/blocking-keys.sql.ts ====

-- longshore-select-blocking-keys
  with recursive wanted as (
    (
      select queue_id, meta ->> 'concurrencyKey' as key, 1 as steps from longshore.job_blocked
      where queue_id between greatest($1::integer, 1) and $2::integer order by queue_id, meta ->> 'concurrencyKey' limit 1
    )
    union all
    select next.queue_id, next.key, wanted.steps + 1
    from wanted cross join lateral (
      select queue_id, meta ->> 'concurrencyKey' as key from longshore.job_blocked
      where (queue_id, meta ->> 'concurrencyKey') > (wanted.queue_id, wanted.key) and queue_id <= $2::integer
      order by queue_id, meta ->> 'concurrencyKey' limit 1
    ) as next
    where wanted.steps < 200
  ),
  sized as materialized (select queue_id, key, 20000 / count(*) over () as most from wanted),
  counted as materialized (
    select sized.*, blocked, row_number() over (order by blocked desc, queue_id, key) as rank
    from sized cross join lateral (
      select count(*)::integer as blocked from (
        select 1 from longshore.job_blocked where queue_id = sized.queue_id and meta ->> 'concurrencyKey' = sized.key limit sized.most + 1
      ) as seen
    ) as size
  )
  select counted.queue_id, counted.key, counted.blocked, counted.most::integer, first.allowed, first.since, held.holders
  from counted
  left join lateral (
    select case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as allowed, due_at as since from longshore.job_blocked
    where counted.rank <= 20 and queue_id = counted.queue_id and meta ->> 'concurrencyKey' = counted.key
    order by priority, seq limit 1
  ) as first on true
  left join lateral (
    select jsonb_agg(
        jsonb_build_object('id', id, 'name', name, 'startedAt', case when server_id is not null then started_at end)
        order by server_id is null, started_at
      ) as holders
    from (
      select id, name, server_id, started_at from longshore.job
      where counted.rank <= 20 and queue_id = counted.queue_id
        and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = counted.key
      limit 10
    ) as holder
  ) as held on true
  order by counted.rank;

-- ==== src/dependencies/concurrency-keys.sql.ts ====

-- longshore-check-key
insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
values ($1, '00000000-0000-0000-0000-000000000000', 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', $2::text));

-- longshore-delete-full-key-rates
delete from longshore.key_rate where queue_id > 0 and full_at < now() and wake_at is null;

-- longshore-limit-blocked
  with blocked as materialized (
    select id, case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as jobs from longshore.job_blocked
    where queue_id = $1 and meta ->> 'concurrencyKey' = $2 order by id for update
  ),
  changed as (
    update longshore.job_blocked as job
    set meta = jsonb_set(job.meta, '{concurrencyLimit}', to_jsonb($3::integer))
    from blocked where job.queue_id = $1 and job.id = blocked.id and blocked.jobs <> $3::integer
    returning 1
  )
  select (select count(*)::integer from changed) as changed,
    to_jsonb(array(select distinct jobs from blocked order by jobs limit 10)) as before;

-- longshore-lock-keys
select pg_advisory_xact_lock(key.lock)::text
from (
  select distinct hashtextextended(key, longshore.lock_key('concurrency_key', $1::integer)) as lock
  from unnest($2::text[]) as key order by lock
) as key;

-- longshore-read-rated-key
  select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms, extract(epoch from rate.full_at)::float8 * 1000 as full_at_ms,
    first.rate, first.allowed, taken.jobs as taken, taken.unclaimed
  from (
    select meta -> 'concurrencyRate' as rate, case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as allowed from longshore.job_blocked
    where queue_id = $1 and meta ->> 'concurrencyKey' = $2 order by priority, seq limit 1
  ) as first
  cross join (
    select count(*)::integer as jobs, (count(*) filter (where server_id is null))::integer as unclaimed from longshore.job
    where queue_id = $1 and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = $2
  ) as taken
  left join longshore.key_rate as rate on rate.queue_id = $1 and rate.key = $2;

-- longshore-record-keys-with-room
  with recursive wanted as (
    (
      select queue_id, id, meta ->> 'concurrencyKey' as key from longshore.job_blocked
      where queue_id > 0 order by queue_id, meta ->> 'concurrencyKey' limit 1
    )
    union all
    select next.* from wanted cross join lateral (
      select queue_id, id, meta ->> 'concurrencyKey' as key from longshore.job_blocked
      where (queue_id, meta ->> 'concurrencyKey') > (wanted.queue_id, wanted.key)
      order by queue_id, meta ->> 'concurrencyKey' limit 1
    ) as next
  )
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select wanted.queue_id, wanted.id, 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', wanted.key)
  from wanted
  cross join lateral (
    select count(*) as jobs from longshore.job
    where queue_id = wanted.queue_id and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = wanted.key) as taken
  cross join lateral (
    select case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as jobs from longshore.job_blocked
    where queue_id = wanted.queue_id and meta ->> 'concurrencyKey' = wanted.key order by priority, seq limit 1) as allowed
  where taken.jobs < allowed.jobs
  returning 1;

-- longshore-save-key-rate
insert into longshore.key_rate (queue_id, key, full_at, wake_at)
values ($1, $2, to_timestamp($3::float8 / 1000), to_timestamp($4::float8 / 1000))
on conflict (queue_id, key) do update set full_at = excluded.full_at, wake_at = excluded.wake_at;

-- longshore-select-blocked
select 1 from longshore.job_blocked where queue_id = $1 and meta ->> 'concurrencyKey' = $2 limit 1;

-- longshore-select-waking
select distinct queue_id from longshore.key_rate where queue_id > 0 and wake_at <= now() order by queue_id;

-- longshore-unblock-first
with unblocked as (
  delete from longshore.job_blocked
  where queue_id = $1 and id = any (array(
    select id from longshore.job_blocked where queue_id = $1 and meta ->> 'concurrencyKey' = $2
    order by priority, seq limit $3::integer
  ))
  returning *
),
ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from unblocked order by priority, seq
)
select count(*)::integer as unblocked from unblocked;

-- longshore-unblock-jobs
  with head as materialized (
    select wanted.key, allowed.jobs, allowed.is_rated
    from unnest($2::text[]) as wanted (key)
    cross join lateral (
    select case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as jobs, meta ? 'concurrencyRate' as is_rated from longshore.job_blocked
    where queue_id = $1 and meta ->> 'concurrencyKey' = wanted.key order by priority, seq limit 1) as allowed
  ),
  admissible as materialized (
    select candidate.id
    from head as wanted
    cross join lateral (
    select count(*) as jobs from longshore.job
    where queue_id = $1 and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = wanted.key) as taken
    cross join lateral (
      select id, bool_and(place <= own_limit) over (order by place) as fits
      from (
        select id, own_limit, taken.jobs + row_number() over (order by priority, seq) as place
        from (
    select id, priority, seq, case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as own_limit from longshore.job_blocked
    where queue_id = $1 and meta ->> 'concurrencyKey' = wanted.key order by priority, seq limit greatest(0, wanted.jobs - taken.jobs)) as next
      ) as next
    ) as candidate
    where candidate.fits and not wanted.is_rated
  ),
  unblocked as (
    delete from longshore.job_blocked using admissible
    where job_blocked.queue_id = $1 and job_blocked.id = admissible.id
    returning job_blocked.*
  ),
  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from unblocked order by priority, seq
  )
  select count(*)::integer as unblocked, array(select key from head where is_rated order by key) as rated from unblocked;

-- longshore-wake-keys
with woken as (
  update longshore.key_rate set wake_at = null where queue_id = $1 and wake_at <= now() returning queue_id, key
)
insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
select queue_id, '00000000-0000-0000-0000-000000000000', 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', key) from woken;

-- ==== src/dependencies/skipped-jobs.ts ====

-- longshore-count-skipped
with recursive
found (id, is_batch) as (
  select unnest($1::uuid[]), null::boolean
  union
  select related.id, related.is_batch from found
  join longshore.job_dependency as dependency on dependency.parent_id = found.id
  cross join lateral (
    select id, (meta ->> 'batchId')::uuid as batch_id
    from longshore.job_history_cancelled as history where history.id = dependency.child_id and attempt = 0 and error ->> 'name' = 'ContinuationCancelled' and true limit 1
  ) as dependent
  cross join lateral (values (dependent.id, false), (dependent.batch_id, true)) as related (id, is_batch)
  where related.id is not null
)
select count(*)::integer as jobs
from (select 1 from found where not is_batch and id <> all ($1::uuid[]) limit $2::integer) as counted;

-- longshore-restore-skipped
  with recursive
  found (id, is_batch) as (
    select unnest($1::uuid[]), null::boolean
    union
    select related.id, related.is_batch from found
    join longshore.job_dependency as dependency on dependency.parent_id = found.id
    cross join lateral (
      select id, (meta ->> 'batchId')::uuid as batch_id
      from longshore.job_history_cancelled as history where history.id = dependency.child_id and attempt = 0 and error ->> 'name' = 'ContinuationCancelled' and ($2::text[] is null or history.queue_id in (select queue.id from longshore.queue where queue.name = any($2))) limit 1
    ) as dependent
    cross join lateral (values (dependent.id, false), (dependent.batch_id, true)) as related (id, is_batch)
    where related.id is not null
  ),
  removed as (
    delete from longshore.job_history_cancelled
    where id = any (array(select id from found where not is_batch and id <> all ($1::uuid[]))) and attempt = 0 and error ->> 'name' = 'ContinuationCancelled'
    returning *, 'cancelled'::longshore.job_state as state
  ),

  again as materialized (select removed.*, true as waits from removed),
  revived as (
    select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
      least(greatest(priority, -100), 100)::smallint as priority, least(attempt, 9999) as attempt,
      least(greatest(max_attempts, least(attempt, 9999) + 1), 10000)::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
      else case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
      end as past_attempts
    from again
  ),

  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  blocked as (
    insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  arrived as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
      'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
    from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false)
  ),
  restored as (
    insert into longshore.job_awaiting (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, delay_ms)
    select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, (meta ->> 'delayMs')::float8 from revived where waits
  ),
  reopened as (
    update longshore.job_dependency set resolved_at = null, marked = false
    where child_id = any (array(select id from again where waits)) and not met
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'retried', jsonb_strip_nulls(jsonb_build_object('waits', case when waits then true end, 'state', state, 'runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id, 'finishedAt', finished_at, 'error', case when server_id is null then error end))
    from again
    on conflict do nothing
  ),
  request as (
    delete from longshore.job_cancellation using removed
    where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, state, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, meta from again where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, -count(*) from again group by queue_id, state union all select queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, count(*) from again group by queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state
  ),
  unfinished as (
    update longshore.batch set finished_at = null
    where id = any (array(select id from found where is_batch is distinct from false)) and finished_at is not null
  )
  select (select count(*) from removed)::integer as restored,
    array(select id::text from removed union select meta ->> 'batchId' from removed where meta ? 'batchId') as ids;

-- ==== src/enqueue/direct-inserts.ts ====

-- longshore-insert-leased
with consumer as materialized (
  select id from longshore.server
  where id = $8 and $4::text <> all (array(select name from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true)))) and not exists (
    select 1 from longshore.queue
    where id = $1 and ((paused_at is not null and coalesce(paused_until > now(), true)) or concurrency_limit is not null or rate_limit is not null))
  for key share
),
inserted as (
  insert into longshore.job
    (queue_id, id, name, priority, max_attempts, args, meta, server_id, attempt, started_at, lease_until)
  select $1, new.id, $4::text, $5::smallint, $6::smallint, args, meta, consumer.id, (consumer.id is not null)::integer,
    case when consumer.id is not null then clock_timestamp() end,
    case when consumer.id is not null then now() + $9::float8 * interval '1 millisecond' end
  from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($7::jsonb[])) as new (id, args, meta)
  left join consumer on true
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, (case when exists (select 1 from consumer) then 'processing' else 'enqueued' end)::longshore.job_state,
    cardinality($2::uuid[])
)
select now() as created_at, exists (select 1 from consumer) as is_leased;

-- ==== src/enqueue/replace-jobs.sql.ts ====

-- longshore-replace-jobs
with content as materialized (
  select * from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::smallint[]),
    unnest($6::jsonb[]), unnest($7::timestamptz[]), unnest($8::float8[])
  ) as content (id, args, priority, max_attempts, meta, due_at, due_in)
),
old_ready as (
  delete from longshore.job as holder using content
  where holder.queue_id = $1 and holder.id = content.id and holder.server_id is null
  returning holder.queue_id, holder.id, holder.created_at, case when content.due_at is null then case when content.due_in is not null then now() + least(greatest(content.due_in, 0), 315360000000) * interval '1 millisecond' end else greatest(content.due_at, now()) end as run_at, content.priority, holder.attempt,
    greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts, holder.name, content.args,
    nullif(jsonb_strip_nulls(jsonb_build_object('batchId', holder.meta -> 'batchId', 'parentIds', holder.meta -> 'parentIds', 'parentCondition', holder.meta -> 'parentCondition', 'recurringJobId', holder.meta -> 'recurringJobId', 'enqueuedBy', holder.meta -> 'enqueuedBy', 'idempotencyKey', holder.meta -> 'idempotencyKey', 'unique', holder.meta -> 'unique', 'hasDependents', holder.meta -> 'hasDependents')) || coalesce(content.meta - array['batchId', 'parentIds', 'parentCondition', 'recurringJobId', 'enqueuedBy', 'idempotencyKey', 'unique', 'hasDependents'], '{}'), '{}') as meta, holder.past_attempts, holder.meta as held_meta, holder.seq),
old_blocked as (
  delete from longshore.job_blocked as holder using content
  where holder.queue_id = $1 and holder.id = content.id
  returning holder.queue_id, holder.id, holder.created_at, case when content.due_at is null then case when content.due_in is not null then now() + least(greatest(content.due_in, 0), 315360000000) * interval '1 millisecond' end else greatest(content.due_at, now()) end as run_at, content.priority, holder.attempt,
    greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts, holder.name, content.args,
    nullif(jsonb_strip_nulls(jsonb_build_object('batchId', holder.meta -> 'batchId', 'parentIds', holder.meta -> 'parentIds', 'parentCondition', holder.meta -> 'parentCondition', 'recurringJobId', holder.meta -> 'recurringJobId', 'enqueuedBy', holder.meta -> 'enqueuedBy', 'idempotencyKey', holder.meta -> 'idempotencyKey', 'unique', holder.meta -> 'unique', 'hasDependents', holder.meta -> 'hasDependents')) || coalesce(content.meta - array['batchId', 'parentIds', 'parentCondition', 'recurringJobId', 'enqueuedBy', 'idempotencyKey', 'unique', 'hasDependents'], '{}'), '{}') as meta, holder.past_attempts, holder.meta as held_meta, holder.seq),
old_waiting as (
  delete from longshore.job_scheduled as holder using content
  where holder.queue_id = $1 and holder.id = content.id
  returning holder.queue_id, holder.id, holder.created_at, case when content.due_at is null then case when content.due_in is not null then now() + least(greatest(content.due_in, 0), 315360000000) * interval '1 millisecond' end else greatest(content.due_at, now()) end as run_at, content.priority, holder.attempt,
    greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts, holder.name, content.args,
    nullif(jsonb_strip_nulls(jsonb_build_object('batchId', holder.meta -> 'batchId', 'parentIds', holder.meta -> 'parentIds', 'parentCondition', holder.meta -> 'parentCondition', 'recurringJobId', holder.meta -> 'recurringJobId', 'enqueuedBy', holder.meta -> 'enqueuedBy', 'idempotencyKey', holder.meta -> 'idempotencyKey', 'unique', holder.meta -> 'unique', 'hasDependents', holder.meta -> 'hasDependents')) || coalesce(content.meta - array['batchId', 'parentIds', 'parentCondition', 'recurringJobId', 'enqueuedBy', 'idempotencyKey', 'unique', 'hasDependents'], '{}'), '{}') as meta, holder.past_attempts, holder.meta as held_meta, holder.retried_at),
awaiting as (
  update longshore.job_awaiting as holder
  set args = content.args, priority = content.priority, max_attempts = greatest(content.max_attempts, holder.attempt + 1),
    meta = nullif(jsonb_strip_nulls(jsonb_build_object('batchId', holder.meta -> 'batchId', 'parentIds', holder.meta -> 'parentIds', 'parentCondition', holder.meta -> 'parentCondition', 'recurringJobId', holder.meta -> 'recurringJobId', 'enqueuedBy', holder.meta -> 'enqueuedBy', 'idempotencyKey', holder.meta -> 'idempotencyKey', 'unique', holder.meta -> 'unique', 'hasDependents', holder.meta -> 'hasDependents')) || coalesce(content.meta - array['batchId', 'parentIds', 'parentCondition', 'recurringJobId', 'enqueuedBy', 'idempotencyKey', 'unique', 'hasDependents'], '{}'), '{}'), run_at = content.due_at, delay_ms = content.due_in
  from content where holder.queue_id = $1 and holder.id = content.id
  returning holder.id
),
removed as (
  select *, null::timestamptz as retried_at, 'enqueued'::longshore.job_state as state from old_ready
  union all select *, null, 'enqueued' from old_blocked
  union all select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, held_meta, nextval('longshore.job_seq'), retried_at, 'scheduled' from old_waiting
),
arriving as (select * from removed where run_at is null),

ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, seq) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, seq from arriving where not coalesce(meta ? 'concurrencyKey', false) order by seq
  returning queue_id, priority, seq
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from ready group by queue_id, priority
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, seq) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, seq from arriving where coalesce(meta ? 'concurrencyKey', false) order by seq
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
waiting as (
  insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, retried_at)
  select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, retried_at from removed where run_at is not null
),
were_ready as (
  select queue_id, id, state, held_meta as meta from removed where state = 'enqueued'
),

outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, state, state, meta from were_ready where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, sum(change.jobs)
  from (
    select state, -1 as jobs from removed
    union all select case when run_at is null then 'enqueued' else 'scheduled' end::longshore.job_state, 1 from removed
  ) as change (state, jobs)
  group by change.state having sum(change.jobs) <> 0
)
select id from removed union all select id from awaiting;

-- ==== src/enqueue/unique-keys.sql.ts ====

-- longshore-claim-unique
update longshore.job_key as held
set job_id = wanted.job_id, states = wanted.states::longshore.job_state[],
  expires_at = now() + period_ms * interval '1 millisecond', fingerprint = wanted.fingerprint
from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
  as wanted (namespace, key, job_id, states, period_ms, fingerprint)
where held.queue_id = $1 and held.namespace = wanted.namespace and held.key = wanted.key;

-- longshore-delete-gone-moved-jobs
with gone as materialized (
  select job_id, queue_id from longshore.moved_job as moved
  where not exists (
  select case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state from longshore.job where queue_id = moved.queue_id and id = moved.job_id
  union all select 'enqueued'::longshore.job_state as state from longshore.job_blocked where queue_id = moved.queue_id and id = moved.job_id
  union all select 'scheduled'::longshore.job_state as state from longshore.job_scheduled where queue_id = moved.queue_id and id = moved.job_id
  union all select 'awaiting'::longshore.job_state as state from longshore.job_awaiting where queue_id = moved.queue_id and id = moved.job_id
  union all select state from longshore.job_history
  where true and queue_id = moved.queue_id and id = moved.job_id
  limit 1) limit $1
)
delete from longshore.moved_job as moved using gone
where moved.job_id = gone.job_id and moved.queue_id = gone.queue_id;

-- longshore-lock-unique
insert into longshore.job_key as held (queue_id, namespace, key, job_id, states, expires_at, fingerprint)
select $1, namespace, key, job_id, states::longshore.job_state[], now() + period_ms * interval '1 millisecond', fingerprint
from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
  as wanted (namespace, key, job_id, states, period_ms, fingerprint)
order by namespace collate "C", key collate "C"
on conflict (queue_id, namespace, key) do update set job_id = held.job_id
returning namespace, key, job_id, states::text[], coalesce(expires_at <= now(), false) as expired, fingerprint;

-- longshore-select-holders
select holder.id, found.state, moved.queue_id as moved_to
from unnest($2::uuid[], $3::boolean[]) as holder (id, history)
left join lateral (
  select case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state from longshore.job where queue_id = $1 and id = holder.id
  union all select 'enqueued'::longshore.job_state as state from longshore.job_blocked where queue_id = $1 and id = holder.id
  union all select 'scheduled'::longshore.job_state as state from longshore.job_scheduled where queue_id = $1 and id = holder.id
  union all select 'awaiting'::longshore.job_state as state from longshore.job_awaiting where queue_id = $1 and id = holder.id
  union all select state from longshore.job_history
  where holder.history and queue_id = $1 and id = holder.id
  limit 1) as found on true
left join longshore.moved_job as moved on moved.job_id = holder.id and found.state is null
where found.state is not null or moved.queue_id is not null;

-- longshore-sweep-unique
with seen as materialized (
  select held.queue_id, namespace, key, held.job_id, states, expires_at, coalesce(moved.queue_id, held.queue_id) as job_queue_id
  from longshore.job_key as held left join longshore.moved_job as moved on moved.job_id = held.job_id
  where (held.queue_id, namespace, key) > ($1::integer, $2::text, $3::text)
  order by held.queue_id, namespace, key limit $4
),
stale as materialized (
  select seen.* from seen
  where expires_at <= now()
    or states is not null and coalesce((
      select state = 'done' and state <> all (seen.states) from (
  select case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state from longshore.job where queue_id = seen.job_queue_id and id = seen.job_id
  union all select 'enqueued'::longshore.job_state as state from longshore.job_blocked where queue_id = seen.job_queue_id and id = seen.job_id
  union all select 'scheduled'::longshore.job_state as state from longshore.job_scheduled where queue_id = seen.job_queue_id and id = seen.job_id
  union all select 'awaiting'::longshore.job_state as state from longshore.job_awaiting where queue_id = seen.job_queue_id and id = seen.job_id
  union all select state from longshore.job_history
  where true and queue_id = seen.job_queue_id and id = seen.job_id
  limit 1) as found
    ), true)
),
deleted as (
  delete from longshore.job_key as held using stale
  where held.queue_id = stale.queue_id and held.namespace = stale.namespace and held.key = stale.key
    and held.job_id = stale.job_id and held.expires_at is not distinct from stale.expires_at
)
select seen.queue_id, seen.namespace, seen.key, stale.key is not null as stale
from seen left join stale using (queue_id, namespace, key)
order by seen.queue_id, seen.namespace, seen.key;

-- ==== src/history/history-days.ts ====

-- longshore-delete-strays-job_history_cancelled
with gone as (
  delete from longshore.job_history_cancelled_default
  where ctid = any (array(
    select ctid from longshore.job_history_cancelled_default
    where (finished_at at time zone 'UTC')::date = to_date($1, 'YYYYMMDD') limit 5000
  ))
  returning queue_id
)
, counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'cancelled', -count(*) from gone group by queue_id
)
select count(*)::integer as rows from gone;

-- longshore-delete-strays-job_history_done
with gone as (
  delete from longshore.job_history_done_default
  where ctid = any (array(
    select ctid from longshore.job_history_done_default
    where (finished_at at time zone 'UTC')::date = to_date($1, 'YYYYMMDD') limit 5000
  ))
  returning queue_id
)
, counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'done', -count(*) from gone group by queue_id
)
select count(*)::integer as rows from gone;

-- longshore-delete-strays-job_history_failed
with gone as (
  delete from longshore.job_history_failed_default
  where ctid = any (array(
    select ctid from longshore.job_history_failed_default
    where (finished_at at time zone 'UTC')::date = to_date($1, 'YYYYMMDD') limit 5000
  ))
  returning queue_id
)
, counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'failed', -count(*) from gone group by queue_id
)
select count(*)::integer as rows from gone;

-- longshore-delete-strays-job_report
with gone as (
  delete from longshore.job_report_default
  where ctid = any (array(
    select ctid from longshore.job_report_default
    where (started_at at time zone 'UTC')::date = to_date($1, 'YYYYMMDD') limit 5000
  ))
  returning queue_id
)
select count(*)::integer as rows from gone;

-- longshore-make-day
select longshore.make_history_day($1, $2::date) as made;

-- longshore-note-expiring
with
kept (history, state, days) as (
  values ('job_history_done', 'done', $1::integer), ('job_history_failed', 'failed', $2::integer),
    ('job_history_cancelled', 'cancelled', $3::integer), ('job_report', null, $4::integer)
),
stored as (
  select kept.*, false as stray, to_date(right(part.relname, 8), 'YYYYMMDD') as day
  from kept
  join pg_catalog.pg_inherits on inhparent = ('longshore.' || history)::regclass
  join pg_catalog.pg_class as part on part.oid = inhrelid
  where part.relname ~ ('^' || history || '_[0-9]{8}$')
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_done_default group by 1) as strays
  where history = 'job_history_done'
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_failed_default group by 1) as strays
  where history = 'job_history_failed'
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_cancelled_default group by 1) as strays
  where history = 'job_history_cancelled'
  union all
  select kept.*, true, strays.day
  from kept, (select (started_at at time zone 'UTC')::date as day from longshore.job_report_default group by 1) as strays
  where history = 'job_report'
),
day as (
  select history || '_' || to_char(day, 'YYYYMMDD') as part, history, state, stray,
    (day + 1 + days)::timestamp at time zone 'UTC' as expires_at
  from stored
),
forgotten as (delete from longshore.expiring_day where seen_at > now() or part not in (select part from day))
insert into longshore.expiring_day (part)
select part from day where expires_at <= now() + interval '24 hours' order by part
on conflict do nothing;

-- longshore-only-dropper
select pg_advisory_xact_lock(longshore.lock_key('job_history'))::text;

-- longshore-select-expired
with
kept (history, state, days) as (
  values ('job_history_done', 'done', $1::integer), ('job_history_failed', 'failed', $2::integer),
    ('job_history_cancelled', 'cancelled', $3::integer), ('job_report', null, $4::integer)
),
stored as (
  select kept.*, false as stray, to_date(right(part.relname, 8), 'YYYYMMDD') as day
  from kept
  join pg_catalog.pg_inherits on inhparent = ('longshore.' || history)::regclass
  join pg_catalog.pg_class as part on part.oid = inhrelid
  where part.relname ~ ('^' || history || '_[0-9]{8}$')
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_done_default group by 1) as strays
  where history = 'job_history_done'
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_failed_default group by 1) as strays
  where history = 'job_history_failed'
  union all
  select kept.*, true, strays.day
  from kept, (select (finished_at at time zone 'UTC')::date as day from longshore.job_history_cancelled_default group by 1) as strays
  where history = 'job_history_cancelled'
  union all
  select kept.*, true, strays.day
  from kept, (select (started_at at time zone 'UTC')::date as day from longshore.job_report_default group by 1) as strays
  where history = 'job_report'
),
day as (
  select history || '_' || to_char(day, 'YYYYMMDD') as part, history, state, stray,
    (day + 1 + days)::timestamp at time zone 'UTC' as expires_at
  from stored
)
select part, history, state, stray from day join longshore.expiring_day using (part)
where expires_at <= now() and seen_at <= now() - interval '20 hours'
order by part;

-- longshore-select-missing-days
select history, to_char(day, 'YYYY-MM-DD') as day
from (
  select history, (now() at time zone 'UTC')::date + ahead as day
  from unnest(array['job_history_done', 'job_history_failed', 'job_history_cancelled', 'job_report']) as history, generate_series(-1, $1::integer) as ahead
  union select 'job_history_done', (finished_at at time zone 'UTC')::date from longshore.job_history_done_default group by 2
  union select 'job_history_failed', (finished_at at time zone 'UTC')::date from longshore.job_history_failed_default group by 2
  union select 'job_history_cancelled', (finished_at at time zone 'UTC')::date from longshore.job_history_cancelled_default group by 2
  union select 'job_report', (started_at at time zone 'UTC')::date from longshore.job_report_default group by 2
) as wanted
where to_regclass(format('longshore.%I', history || '_' || to_char(day, 'YYYYMMDD'))) is null
order by day, history;

-- ==== src/history/history-indexes.ts ====

-- longshore-cancel-backend
select pg_cancel_backend($1);

-- longshore-select-backend
select pg_backend_pid() as pid;

-- longshore-select-indexed-days
select part.relname as name, to_date(right(part.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC' - interval '15 minutes')::date as ended,
  array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
    where indrelid = part.oid and indisvalid) as valid,
  array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
    where indrelid = part.oid and not indisvalid) as invalid
from unnest(array['done', 'failed', 'cancelled']) as state
join pg_catalog.pg_inherits on inhparent = ('longshore.job_history_' || state)::regclass
join pg_catalog.pg_class as part on part.oid = inhrelid
where part.relname ~ '^job_history_(done|failed|cancelled)_[0-9]{8}$'
  and (state = 'failed' or to_date(right(part.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC' - interval '15 minutes')::date)
  and pg_relation_size(part.oid) >= 4194304
  and not exists (select 1 from pg_catalog.pg_stat_progress_create_index where relid = part.oid)
order by right(part.relname, 8) desc, part.relname;

-- ==== src/jobs/awaited-signals.sql.ts ====

-- longshore-hold-running
with running as materialized (
  select id from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is not null
),
held as materialized (
  select id from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is not null
  order by id for key share skip locked
)
select id, id in (select id from held) as locked from running;

-- longshore-wake-suspended
update longshore.job_scheduled as job set run_at = now()
where job.queue_id = $1 and job.id = any($2::uuid[]) and job.run_at > now()
  and jsonb_typeof(job.meta -> 'awaits') = 'object' and exists (
      select 1 from jsonb_each_text(job.meta -> 'awaits') as awaited (name, needed)
      where (
        select count(*) from longshore.job_signal as signal
        where signal.queue_id = $1 and signal.job_id = job.id and signal.name = awaited.name
      ) >= awaited.needed::integer)
returning job.id;

-- ==== src/jobs/awaiting-jobs.sql.ts ====

-- longshore-cancel-awaiting
with ended as materialized (select * from unnest($2::uuid[], $3::jsonb[]) as ended (id, error)),
removed as (
  delete from longshore.job_awaiting using ended
  where job_awaiting.queue_id = $1 and job_awaiting.id = ended.id
  returning job_awaiting.*, ended.error
),

history as (
  insert into longshore.job_history_cancelled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, error)
  select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end, past_attempts, error from removed
),
resolved as (
  update longshore.job_dependency set resolved_at = now(), marked = true
  where child_id = any (array(select id from removed)) and case when job_dependency.resolved_at is null then true end
),
outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'awaiting'::longshore.job_state, 'cancelled'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from (select count(*) as jobs from removed) as total,
    (values ('awaiting'::longshore.job_state, -1), ('cancelled', 1)) as change (state, sign)
  where total.jobs > 0
)
select true as changed from removed;

-- longshore-insert-awaiting
with inserted as (
  insert into longshore.job_awaiting (queue_id, id, name, priority, max_attempts, args, meta, run_at, delay_ms)
  select $1, id, name, priority, max_attempts, args, meta, run_at, delay_ms
  from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
    unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[]),
    unnest($8::timestamptz[]), unnest($9::float8[])
  ) as new (id, args, name, priority, max_attempts, meta, run_at, delay_ms)
)
insert into longshore.job_count (queue_id, state, jobs) values ($1, 'awaiting', cardinality($2::uuid[]))
returning now() as created_at;

-- longshore-lock-awaiting
select 1 from longshore.job_awaiting where queue_id = $1 and id = any($2::uuid[]) order by id for update;

-- longshore-release-awaiting
with removed as (
  delete from longshore.job_awaiting
  where queue_id = $1 and id = any($2::uuid[])
    and (select true from longshore.job_dependency where child_id = job_awaiting.id and case when job_dependency.resolved_at is null then true end limit 1) is null
  returning *, coalesce(run_at, case when delay_ms is not null then now() + least(greatest(delay_ms, 0), 315360000000) * interval '1 millisecond' end) as due
),
transitions as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
  select queue_id, id, now(), -1, attempt, now(), 'parents-ended', jsonb_strip_nulls(jsonb_build_object())
  from (select * from removed where due > now()) as waiting
  on conflict do nothing
),
arriving as (select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed where due is null or due <= now()),
ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from arriving where coalesce(meta ? 'concurrencyKey', false) order by id
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
waiting as (
  insert into longshore.job_scheduled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
  select queue_id, id, created_at, due, priority, attempt, max_attempts, name, args, meta, past_attempts
  from removed where due > now()
  returning id
),
total as (select (select count(*) from arriving) as ready, (select count(*) from waiting) as waiting),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.jobs
  from total, lateral (
    values ('awaiting'::longshore.job_state, -(ready + waiting)), ('enqueued', ready), ('scheduled', waiting)
  ) as change (state, jobs)
  where change.jobs <> 0
)
select ready::integer, waiting::integer, exists (
  select 1 from arriving where meta ? 'concurrencyKey'
) as blocked
from total;

-- ==== src/jobs/dependencies.sql.ts ====

-- longshore-delete-old-dependencies
delete from longshore.job_dependency
where (parent_id, child_id) in (
  select parent_id, child_id from longshore.job_dependency
  where child_id < rpad(lpad(to_hex((extract(epoch from (now() - interval '30 days')) * 1000)::bigint), 12, '0'), 32, '0')::uuid and resolved_at < now() - interval '30 days'
  order by child_id limit 10000
);

-- longshore-find-parents
select wanted.id, found.place, found.queue_id, found.state
from unnest($1::uuid[]) as wanted (id)
left join lateral (
  select 'job' as place, queue.id as queue_id, null::longshore.job_state as state
  from longshore.queue join longshore.job on job.queue_id = queue.id and job.id = wanted.id
  union all select 'job_blocked' as place, queue.id as queue_id, null::longshore.job_state as state
  from longshore.queue join longshore.job_blocked on job_blocked.queue_id = queue.id and job_blocked.id = wanted.id
  union all select 'job_scheduled' as place, queue.id as queue_id, null::longshore.job_state as state
  from longshore.queue join longshore.job_scheduled on job_scheduled.queue_id = queue.id and job_scheduled.id = wanted.id
  union all select 'job_awaiting' as place, queue.id as queue_id, null::longshore.job_state as state
  from longshore.queue join longshore.job_awaiting on job_awaiting.queue_id = queue.id and job_awaiting.id = wanted.id
  union all select 'batch', 0,
    case when finished_at is null then null
      when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state
  from longshore.batch where id = wanted.id
  union all select 'job_history', queue_id, state from longshore.job_history where id = wanted.id
  limit 1
) as found on true;

-- longshore-insert-dependencies
insert into longshore.job_dependency (parent_id, child_id, queue_id, condition, marked)
select parent_id, child_id, queue_id, condition, marked
from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::boolean[]) as new (parent_id, child_id, queue_id, condition, marked);

-- longshore-lock-parent-batches
select id from longshore.batch where id = any($1::uuid[]) and finished_at is null order by id for share skip locked;

-- longshore-lock-unsuccessful
with failed as materialized (
  select id from longshore.job_history_failed where id = any($1::uuid[]) order by id for key share skip locked
),
cancelled as materialized (
  select id from longshore.job_history_cancelled where id = any($1::uuid[]) order by id for key share skip locked
),
ended as materialized (
  select id, case when failed > 0 then 'failed' else 'cancelled' end::longshore.job_state as state from longshore.batch
  where id = any($1::uuid[]) and finished_at is not null and failed + cancelled > 0 and not exists (
    select from longshore.outbox as entry
    where entry.meta ->> 'batchId' = batch.id::text and entry.from_state in ('done', 'failed', 'cancelled'))
  order by id for share skip locked
)
select id, null::longshore.job_state as state from failed union all select id, null from cancelled union all select id, state from ended;

-- longshore-mark-dependencies
update longshore.job_dependency set marked = true
from unnest($1::uuid[], $2::uuid[]) as known (parent_id, child_id)
where job_dependency.parent_id = known.parent_id and job_dependency.child_id = known.child_id;

-- longshore-mark-parents-job
with parents as materialized (
  select id from longshore.job where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
),
marked as (
  update longshore.job set meta = coalesce(meta, '{}') || '{"hasDependents": true}'
  from parents where job.queue_id = $1 and job.id = parents.id and not coalesce(meta ? 'hasDependents', false)
)
select id from parents;

-- longshore-mark-parents-job_awaiting
with parents as materialized (
  select id from longshore.job_awaiting where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
),
marked as (
  update longshore.job_awaiting set meta = coalesce(meta, '{}') || '{"hasDependents": true}'
  from parents where job_awaiting.queue_id = $1 and job_awaiting.id = parents.id and not coalesce(meta ? 'hasDependents', false)
)
select id from parents;

-- longshore-mark-parents-job_blocked
with parents as materialized (
  select id from longshore.job_blocked where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
),
marked as (
  update longshore.job_blocked set meta = coalesce(meta, '{}') || '{"hasDependents": true}'
  from parents where job_blocked.queue_id = $1 and job_blocked.id = parents.id and not coalesce(meta ? 'hasDependents', false)
)
select id from parents;

-- longshore-mark-parents-job_scheduled
with parents as materialized (
  select id from longshore.job_scheduled where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
),
marked as (
  update longshore.job_scheduled set meta = coalesce(meta, '{}') || '{"hasDependents": true}'
  from parents where job_scheduled.queue_id = $1 and job_scheduled.id = parents.id and not coalesce(meta ? 'hasDependents', false)
)
select id from parents;

-- longshore-open-dependencies
select parent_id, child_id, queue_id, condition from longshore.job_dependency
where parent_id = any($1::uuid[]) and resolved_at is null and marked
limit $2;

-- longshore-resolve-dependencies
update longshore.job_dependency set resolved_at = now(), marked = true, met = true
from unnest($1::uuid[], $2::uuid[]) as ended (parent_id, child_id)
where job_dependency.parent_id = ended.parent_id and job_dependency.child_id = ended.child_id
  and job_dependency.queue_id = $3;

-- longshore-select-dependents
select child_id as id from longshore.job_dependency
where parent_id = $1 and child_id > $3
order by child_id limit $2;

-- longshore-select-dependents-of-each
select parent.id as "parentId", array_agg(child.id) as ids
from unnest($1::uuid[]) as parent (id) cross join lateral (
  select child_id as id from longshore.job_dependency where parent_id = parent.id order by child_id limit $2
) as child
group by parent.id;

-- longshore-take-unmarked-dependencies
select parent_id, child_id, queue_id, condition from longshore.job_dependency
where not marked and child_id > $1
order by child_id limit $2
for update skip locked;

-- longshore-unmark-dependencies
update longshore.job_dependency set marked = false where parent_id = any($1::uuid[]) and resolved_at is null;

-- ==== src/jobs/find-jobs.sql.ts ====

-- longshore-find-documents
select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result from (
  select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = $1
  union all
  select found.* from longshore.queue cross join lateral (
    select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
  priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = $1
      union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = $1
      union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = $1
      union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = $1
  ) as found
  where ($2::integer is null or queue.id = $2::integer) and (queue.retired_at is null or queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server))
  limit 1) as found;

-- longshore-find-job
select found.*, (
    select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
    where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
  ) as progress,
  case when found.server_id is not null and found.finished_at is null then (
    select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
    where request.queue_id = found.queue_id and request.job_id = found.id
  ) end as cancellation from (
  select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = $1
  union all
  select found.* from longshore.queue cross join lateral (
    select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
  priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = $1
      union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = $1
      union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = $1
      union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
  case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = $1
  ) as found
  where ($2::integer is null or queue.id = $2::integer) and (queue.retired_at is null or queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server))
  limit 1) as found;

-- longshore-select-waiting-names
select queue.name as queue, waiting.name, waiting.jobs
from (
  select queue_id, name, count(*)::integer as jobs
  from (
    (select queue_id, name from longshore.job where queue_id > 0 and server_id is null limit $1)
    union all
    (select queue_id, name from longshore.job_scheduled where queue_id > 0 limit $1)
  ) as looked_at
  group by queue_id, name
) as waiting
join longshore.queue on queue.id = waiting.queue_id;

-- longshore-size-of-jobs
select coalesce(sum(octet_length(found.args::text) + coalesce(octet_length(found.result::text), 0)), 0)::float8 as bytes
from unnest($1::uuid[]) as wanted (wanted_id)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (null::integer is null or queue.id = null::integer) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found;

-- ==== src/jobs/inserts.sql.ts ====

-- longshore-insert-alike
with inserted as (
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
      select $1, id, $4::text, $5::smallint, $6::smallint, args
      from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb)) as new (id, args))
    insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    returning now() as created_at;

-- longshore-insert-alike-late
with inserted as (
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args)
      select $1, id, $4::text, $5::smallint, $6::smallint, args
      from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb)) as new (id, args) returning queue_id, priority, seq),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from inserted group by queue_id, priority
    )
    insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    returning now() as created_at;

-- longshore-insert-blocked
with new as materialized (
  select $1::integer as queue_id, *
  from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
    unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
  ) with ordinality as new (id, args, name, priority, max_attempts, meta, place)
),

ready as (
  insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta) select queue_id, id, name, priority, max_attempts, args, meta from new where not coalesce(meta ? 'concurrencyKey', false) order by place
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, name, priority, max_attempts, args, meta) select queue_id, id, name, priority, max_attempts, args, meta from new where coalesce(meta ? 'concurrencyKey', false) order by place
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from new where coalesce(meta ? 'concurrencyKey', false)
)

insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
returning now() as created_at;

-- longshore-insert-blocked-late
with new as materialized (
  select $1::integer as queue_id, *
  from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
    unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
  ) with ordinality as new (id, args, name, priority, max_attempts, meta, place)
),

ready as (
  insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta) select queue_id, id, name, priority, max_attempts, args, meta from new where not coalesce(meta ? 'concurrencyKey', false) order by place
  returning queue_id, priority, seq
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from ready group by queue_id, priority
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, name, priority, max_attempts, args, meta) select queue_id, id, name, priority, max_attempts, args, meta from new where coalesce(meta ? 'concurrencyKey', false) order by place
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from new where coalesce(meta ? 'concurrencyKey', false)
)

insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
returning now() as created_at;

-- longshore-insert-ready
with inserted as (
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta)
      select $1, id, name, priority, max_attempts, args, meta
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
      ) as new (id, args, name, priority, max_attempts, meta))
    insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    returning now() as created_at;

-- longshore-insert-ready-late
with inserted as (
      insert into longshore.job (queue_id, id, name, priority, max_attempts, args, meta)
      select $1, id, name, priority, max_attempts, args, meta
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[])
      ) as new (id, args, name, priority, max_attempts, meta) returning queue_id, priority, seq),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from inserted group by queue_id, priority
    )
    insert into longshore.job_count (queue_id, state, jobs) values ($1, 'enqueued', cardinality($2::uuid[]))
    returning now() as created_at;

-- longshore-insert-waiting
with inserted as (
  insert into longshore.job_scheduled (queue_id, id, name, priority, max_attempts, args, meta, run_at)
  select $1, id, name, priority, max_attempts, args, meta, case when due_at is null then case when due_in is not null then now() + least(greatest(due_in, 0), 315360000000) * interval '1 millisecond' end else greatest(due_at, now()) end
  from rows from (
    unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
    unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[]),
    unnest($8::timestamptz[]), unnest($9::float8[])
  ) as new (id, args, name, priority, max_attempts, meta, due_at, due_in)
)
insert into longshore.job_count (queue_id, state, jobs) values ($1, 'scheduled', cardinality($2::uuid[]))
returning now() as created_at;

-- ==== src/jobs/job-control.sql.ts ====

-- longshore-delete-moot-cancellation
delete from longshore.job_cancellation where queue_id = $1 and job_id = $2 and not exists (
  select 1 from longshore.job where queue_id = $1 and id = $2 union all select 1 from longshore.job_blocked where queue_id = $1 and id = $2 union all select 1 from longshore.job_scheduled where queue_id = $1 and id = $2
);

-- longshore-find-new-queue
select queue_id from longshore.moved_job where job_id = $1;

-- longshore-lock-cancelled
select id from longshore.job_history_cancelled where queue_id = $1 and id = $2 for update;

-- longshore-lock-done
select id from longshore.job_history_done where queue_id = $1 and id = $2 for update;

-- longshore-lock-failed
select id from longshore.job_history_failed where queue_id = $1 and id = $2 for update;

-- longshore-request-cancellation
insert into longshore.job_cancellation (queue_id, job_id) values ($1, $2) on conflict (queue_id, job_id) do nothing;

-- longshore-select-cancellations
select job_id as id from longshore.job_cancellation where job_id = any($1::uuid[]);

-- longshore-select-idle-cancellations
select queue_id, job_id from longshore.job_cancellation as request where not exists (
  select 1 from longshore.job
  where job.queue_id = request.queue_id and job.id = request.job_id and server_id is not null) limit $1;

-- ==== src/jobs/job-documents.ts ====

-- longshore-find-bare-jobs
select found.id, found.queue_id, found.state, found.name, found.priority, found.error, found.attempt, found.max_attempts, found.created_at, found.run_at, found.ready_at, found.started_at, found.finished_at, found.server_id, found.meta, found.past_attempts, null::jsonb as args, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
) as progress,
case when found.server_id is not null and found.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = found.queue_id and request.job_id = found.id
) end as cancellation
from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (null::integer is null or queue.id = null::integer) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found
order by place;

-- longshore-find-job-results
select found.id, found.queue_id, found.state, found.name, found.priority, found.error, found.attempt, found.max_attempts, found.created_at, found.run_at, found.ready_at, found.started_at, found.finished_at, found.server_id, found.meta, found.past_attempts, null::jsonb as args, found.result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
) as progress,
case when found.server_id is not null and found.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = found.queue_id and request.job_id = found.id
) end as cancellation
from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (null::integer is null or queue.id = null::integer) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found
order by place;

-- longshore-find-jobs
select found.*, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
) as progress,
case when found.server_id is not null and found.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = found.queue_id and request.job_id = found.id
) end as cancellation
from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (null::integer is null or queue.id = null::integer) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found
order by place;

-- longshore-find-small-jobs
select found.id, found.queue_id, found.state, found.name, found.priority, found.error, found.attempt, found.max_attempts, found.created_at, found.run_at, found.ready_at, found.started_at, found.finished_at, found.server_id, found.meta, found.past_attempts, case when not coalesce(pg_column_compression(found.args) is not null or pg_column_size(found.args) > 8000, false) then found.args end as args, coalesce(pg_column_compression(found.args) is not null or pg_column_size(found.args) > 8000, false) as args_left_out, case when not coalesce(pg_column_compression(found.result) is not null or pg_column_size(found.result) > 8000, false) then found.result end as result, coalesce(pg_column_compression(found.result) is not null or pg_column_size(found.result) > 8000, false) as result_left_out, coalesce(pg_column_size(found.args), 0) + coalesce(pg_column_size(found.result), 0) as bytes, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
) as progress,
case when found.server_id is not null and found.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = found.queue_id and request.job_id = found.id
) end as cancellation
from unnest($1::uuid[], $2::integer[]) with ordinality as wanted (wanted_id, wanted_queue, place)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (wanted_queue is null or queue.id = wanted_queue) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found
order by place;

-- longshore-find-undocumented-jobs
select found.id, found.queue_id, found.state, found.name, found.priority, found.error, found.attempt, found.max_attempts, found.created_at, found.run_at, found.ready_at, found.started_at, found.finished_at, found.server_id, found.meta, found.past_attempts, null::jsonb as args, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = found.queue_id and report.job_id = found.id and report.started_at = found.started_at and line = 0
) as progress,
case when found.server_id is not null and found.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = found.queue_id and request.job_id = found.id
) end as cancellation
from unnest($1::uuid[], $2::integer[]) with ordinality as wanted (wanted_id, wanted_queue, place)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (wanted_queue is null or queue.id = wanted_queue) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found
order by place;

-- longshore-select-documents
select wanted_id as id, found.args::text as args, found.result::text as result
from unnest($1::uuid[], $2::integer[]) as wanted (wanted_id, wanted_queue)
cross join lateral (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = wanted_id
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = wanted_id
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = wanted_id
) as found
where (wanted_queue is null or queue.id = wanted_queue) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found;

-- ==== src/jobs/job-moves.sql.ts ====

-- longshore-move-cancel-awaiting
with picked as materialized (
  select queue_id, id from longshore.job_awaiting as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  delete from longshore.job_awaiting as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.*
),
history as (
  insert into longshore.job_history_cancelled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts)
  select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end, past_attempts from removed
),
resolved as (
  update longshore.job_dependency set resolved_at = now(), marked = true
  where child_id = any (array(select id from removed)) and case when job_dependency.resolved_at is null then true end
),
outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'awaiting'::longshore.job_state, 'cancelled'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'awaiting'::longshore.job_state, -count(*) from removed group by queue_id, 'awaiting'::longshore.job_state union all select queue_id, 'cancelled'::longshore.job_state, count(*) from removed group by queue_id, 'cancelled'::longshore.job_state
)
select id, true as changed from removed;

-- longshore-move-cancel-blocked
with picked as materialized (
  select queue_id, id from longshore.job_blocked as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  delete from longshore.job_blocked as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.*
),
history as (
  insert into longshore.job_history_cancelled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed
),
outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'enqueued'::longshore.job_state, 'cancelled'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'enqueued'::longshore.job_state, -count(*) from removed group by queue_id, 'enqueued'::longshore.job_state union all select queue_id, 'cancelled'::longshore.job_state, count(*) from removed group by queue_id, 'cancelled'::longshore.job_state
)
select id, true as changed from removed;

-- longshore-move-cancel-ready
with picked as materialized (
  select queue_id, id from longshore.job as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) and job.server_id is null order by queue_id, id
),
removed as (
  delete from longshore.job as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer and job.server_id is null
  returning job.*
),
history as (
  insert into longshore.job_history_cancelled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, ready_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, ready_at from removed
),
outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'enqueued'::longshore.job_state, 'cancelled'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'enqueued'::longshore.job_state, -count(*) from removed group by queue_id, 'enqueued'::longshore.job_state union all select queue_id, 'cancelled'::longshore.job_state, count(*) from removed group by queue_id, 'cancelled'::longshore.job_state
)
select id, true as changed from removed;

-- longshore-move-cancel-running
with picked as materialized (
  select queue_id, id from longshore.job as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) and job.server_id is not null order by queue_id, id
),
removed as (
  insert into longshore.job_cancellation (queue_id, job_id, reason) select queue_id, id, $3::text from picked
  on conflict (queue_id, job_id) do nothing
  returning queue_id, job_id as id
)
select id, true as changed from removed union all select id, false from picked where not exists (select 1 from removed where removed.id = picked.id);

-- longshore-move-cancel-scheduled
with picked as materialized (
  select queue_id, id from longshore.job_scheduled as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  delete from longshore.job_scheduled as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.*
),
history as (
  insert into longshore.job_history_cancelled (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed
),
outbox_entries as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select queue_id, id, 'scheduled'::longshore.job_state, 'cancelled'::longshore.job_state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'scheduled'::longshore.job_state, -count(*) from removed group by queue_id, 'scheduled'::longshore.job_state union all select queue_id, 'cancelled'::longshore.job_state, count(*) from removed group by queue_id, 'cancelled'::longshore.job_state
)
select id, true as changed from removed;

-- longshore-move-delete-cancelled
with picked as materialized (
  select queue_id, id, finished_at from longshore.job_history_cancelled as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
),
removed as (
  delete from longshore.job_history_cancelled as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
  returning job.*, 'cancelled'::longshore.job_state as state
),
reports as (
  delete from longshore.job_report as report using removed
  where report.queue_id = removed.queue_id and report.job_id = removed.id
    and report.started_at between removed.created_at and removed.finished_at
),
steps as (
  delete from longshore.job_step as step using removed where step.queue_id = removed.queue_id and step.job_id = removed.id
),
signals as (
  delete from longshore.job_signal as signal using removed where signal.queue_id = removed.queue_id and signal.job_id = removed.id
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, state, -count(*) from removed group by queue_id, state
)
select id, true as changed from removed;

-- longshore-move-delete-done
with picked as materialized (
  select queue_id, id, finished_at from longshore.job_history_done as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
),
removed as (
  delete from longshore.job_history_done as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
  returning job.*, 'done'::longshore.job_state as state
),
reports as (
  delete from longshore.job_report as report using removed
  where report.queue_id = removed.queue_id and report.job_id = removed.id
    and report.started_at between removed.created_at and removed.finished_at
),
steps as (
  delete from longshore.job_step as step using removed where step.queue_id = removed.queue_id and step.job_id = removed.id
),
signals as (
  delete from longshore.job_signal as signal using removed where signal.queue_id = removed.queue_id and signal.job_id = removed.id
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, state, -count(*) from removed group by queue_id, state
)
select id, true as changed from removed;

-- longshore-move-delete-failed
with picked as materialized (
  select queue_id, id, finished_at from longshore.job_history_failed as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
),
removed as (
  delete from longshore.job_history_failed as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
  returning job.*, 'failed'::longshore.job_state as state
),
reports as (
  delete from longshore.job_report as report using removed
  where report.queue_id = removed.queue_id and report.job_id = removed.id
    and report.started_at between removed.created_at and removed.finished_at
),
steps as (
  delete from longshore.job_step as step using removed where step.queue_id = removed.queue_id and step.job_id = removed.id
),
signals as (
  delete from longshore.job_signal as signal using removed where signal.queue_id = removed.queue_id and signal.job_id = removed.id
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, state, -count(*) from removed group by queue_id, state
)
select id, true as changed from removed;

-- longshore-move-rename-awaiting
with picked as materialized (
  select queue_id, id from longshore.job_awaiting as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  update longshore.job_awaiting as job set name = $3::text from picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.queue_id, job.id
)
select id, true as changed from removed;

-- longshore-move-rename-blocked
with picked as materialized (
  select queue_id, id from longshore.job_blocked as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  update longshore.job_blocked as job set name = $3::text from picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.queue_id, job.id
)
select id, true as changed from removed;

-- longshore-move-rename-ready
with picked as materialized (
  select queue_id, id from longshore.job as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) and job.server_id is null order by queue_id, id
),
removed as (
  update longshore.job as job set name = $3::text from picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer and job.server_id is null
  returning job.queue_id, job.id, job.priority, job.seq
),
gap as (
  insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
  select queue_id, priority, min(seq), max(seq) from removed group by queue_id, priority
)
select id, true as changed from removed;

-- longshore-move-rename-scheduled
with picked as materialized (
  select queue_id, id from longshore.job_scheduled as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  update longshore.job_scheduled as job set name = $3::text from picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.queue_id, job.id
)
select id, true as changed from removed;

-- longshore-move-reschedule-scheduled
with picked as materialized (
  select queue_id, id from longshore.job_scheduled as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
locked as materialized (
  select job.* from longshore.job_scheduled as job join picked on job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer order by job.queue_id, job.id for update of job
),

transitions as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
  select queue_id, id, now(), -1, attempt, now(), 'rescheduled', jsonb_strip_nulls(jsonb_build_object('runAt', run_at))
  from locked
  on conflict do nothing
),
removed as (
  update longshore.job_scheduled as job set run_at = greatest($3::timestamptz, now()) from locked
  where job.queue_id = locked.queue_id and job.id = locked.id and job.queue_id = $1::integer
  returning job.queue_id, job.id
)
select id, true as changed from removed;

-- longshore-move-retry-cancelled
  with picked as materialized (
    select queue_id, id, finished_at from longshore.job_history_cancelled as job
    where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
  ),
  removed as (
    delete from longshore.job_history_cancelled as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
    returning job.*, 'cancelled'::longshore.job_state as state
  ),
  again as materialized (select removed.*, attempt = 0 and state = 'cancelled'
and exists (select 1 from longshore.job_dependency where child_id = id and not met) as waits from removed),
  revived as (
    select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
      least(greatest(priority, -100), 100)::smallint as priority, least(attempt, 9999) as attempt,
      least(greatest(max_attempts, least(attempt, 9999) + 1), 10000)::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
      else case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
      end as past_attempts
    from again
  ),

  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  blocked as (
    insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  arrived as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
      'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
    from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false)
  ),
  restored as (
    insert into longshore.job_awaiting (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, delay_ms)
    select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, (meta ->> 'delayMs')::float8 from revived where waits
  ),
  reopened as (
    update longshore.job_dependency set resolved_at = null, marked = false
    where child_id = any (array(select id from again where waits)) and not met
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'retried', jsonb_strip_nulls(jsonb_build_object('waits', case when waits then true end, 'state', state, 'runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id, 'finishedAt', finished_at, 'error', case when server_id is null then error end))
    from again
    on conflict do nothing
  ),
  request as (
    delete from longshore.job_cancellation using removed
    where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, state, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, meta from again where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, -count(*) from again group by queue_id, state union all select queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, count(*) from again group by queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state
  )
  select id, true as changed from removed;

-- longshore-move-retry-failed
  with picked as materialized (
    select queue_id, id, finished_at from longshore.job_history_failed as job
    where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
  ),
  removed as (
    delete from longshore.job_history_failed as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
    returning job.*, 'failed'::longshore.job_state as state
  ),
  again as materialized (select removed.*, attempt = 0 and state = 'cancelled'
and exists (select 1 from longshore.job_dependency where child_id = id and not met) as waits from removed),
  revived as (
    select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
      least(greatest(priority, -100), 100)::smallint as priority, least(attempt, 9999) as attempt,
      least(greatest(max_attempts, least(attempt, 9999) + 1), 10000)::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
      else case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
      end as past_attempts
    from again
  ),

  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  blocked as (
    insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  arrived as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
      'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
    from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false)
  ),
  restored as (
    insert into longshore.job_awaiting (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, delay_ms)
    select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, (meta ->> 'delayMs')::float8 from revived where waits
  ),
  reopened as (
    update longshore.job_dependency set resolved_at = null, marked = false
    where child_id = any (array(select id from again where waits)) and not met
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'retried', jsonb_strip_nulls(jsonb_build_object('waits', case when waits then true end, 'state', state, 'runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id, 'finishedAt', finished_at, 'error', case when server_id is null then error end))
    from again
    on conflict do nothing
  ),
  request as (
    delete from longshore.job_cancellation using removed
    where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, state, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, meta from again where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, -count(*) from again group by queue_id, state union all select queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, count(*) from again group by queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state
  )
  select id, true as changed from removed;

-- longshore-move-retry-ignoring-dependencies-cancelled
  with picked as materialized (
    select queue_id, id, finished_at from longshore.job_history_cancelled as job
    where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
  ),
  removed as (
    delete from longshore.job_history_cancelled as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
    returning job.*, 'cancelled'::longshore.job_state as state
  ),
  again as materialized (select removed.*, false as waits from removed),
  revived as (
    select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
      least(greatest(priority, -100), 100)::smallint as priority, least(attempt, 9999) as attempt,
      least(greatest(max_attempts, least(attempt, 9999) + 1), 10000)::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
      else case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
      end as past_attempts
    from again
  ),

  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  blocked as (
    insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  arrived as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
      'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
    from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false)
  ),
  restored as (
    insert into longshore.job_awaiting (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, delay_ms)
    select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, (meta ->> 'delayMs')::float8 from revived where waits
  ),
  reopened as (
    update longshore.job_dependency set resolved_at = null, marked = false
    where child_id = any (array(select id from again where waits)) and not met
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'retried', jsonb_strip_nulls(jsonb_build_object('waits', case when waits then true end, 'state', state, 'runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id, 'finishedAt', finished_at, 'error', case when server_id is null then error end))
    from again
    on conflict do nothing
  ),
  request as (
    delete from longshore.job_cancellation using removed
    where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, state, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, meta from again where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, -count(*) from again group by queue_id, state union all select queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, count(*) from again group by queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state
  )
  select id, true as changed from removed;

-- longshore-move-retry-ignoring-dependencies-failed
  with picked as materialized (
    select queue_id, id, finished_at from longshore.job_history_failed as job
    where job.queue_id = $1::integer and id = any($2::uuid[]) order by id
  ),
  removed as (
    delete from longshore.job_history_failed as job using picked where job.id = picked.id and job.finished_at = picked.finished_at and job.queue_id = $1::integer
    returning job.*, 'failed'::longshore.job_state as state
  ),
  again as materialized (select removed.*, false as waits from removed),
  revived as (
    select waits, queue_id, id, created_at, case when run_at is not null then least(greatest(run_at, 'epoch'), '9999-12-31T23:59:59.999Z') end as run_at,
      least(greatest(priority, -100), 100)::smallint as priority, least(attempt, 9999) as attempt,
      least(greatest(max_attempts, least(attempt, 9999) + 1), 10000)::smallint as max_attempts, name, args, meta, case when server_id is null or error is null then past_attempts
      else case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', attempt, 'outcome', state, 'serverId', server_id, 'startedAt', started_at, 'finishedAt', finished_at, 'error', error)
      end as past_attempts
    from again
  ),

  ready as (
    insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where not coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  blocked as (
    insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false) order by id
  ),
  arrived as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
      'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
    from (select * from revived where not waits) as arriving where coalesce(meta ? 'concurrencyKey', false)
  ),
  restored as (
    insert into longshore.job_awaiting (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, delay_ms)
    select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, (meta ->> 'delayMs')::float8 from revived where waits
  ),
  reopened as (
    update longshore.job_dependency set resolved_at = null, marked = false
    where child_id = any (array(select id from again where waits)) and not met
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'retried', jsonb_strip_nulls(jsonb_build_object('waits', case when waits then true end, 'state', state, 'runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id, 'finishedAt', finished_at, 'error', case when server_id is null then error end))
    from again
    on conflict do nothing
  ),
  request as (
    delete from longshore.job_cancellation using removed
    where job_cancellation.queue_id = removed.queue_id and job_id = removed.id
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, state, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, meta from again where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, state, -count(*) from again group by queue_id, state union all select queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state, count(*) from again group by queue_id, case when waits then 'awaiting' else 'enqueued' end::longshore.job_state
  )
  select id, true as changed from removed;

-- longshore-move-run-awaiting
with picked as materialized (
  select queue_id, id from longshore.job_awaiting as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  delete from longshore.job_awaiting as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.*
),
resolved as (
  update longshore.job_dependency set resolved_at = now(), marked = true
  where child_id = any (array(select id from removed)) and case when job_dependency.resolved_at is null then true end
),
ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed where not coalesce(meta ? 'concurrencyKey', false) order by id
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed where coalesce(meta ? 'concurrencyKey', false) order by id
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from removed where coalesce(meta ? 'concurrencyKey', false)
),
transitions as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
  select queue_id, id, now(), -1, attempt, now(), 'run', jsonb_strip_nulls(jsonb_build_object('runAt', run_at))
  from removed
  on conflict do nothing
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'awaiting'::longshore.job_state, -count(*) from removed group by queue_id, 'awaiting'::longshore.job_state union all select queue_id, 'enqueued'::longshore.job_state, count(*) from removed group by queue_id, 'enqueued'::longshore.job_state
)
select id, true as changed from removed;

-- longshore-move-run-scheduled
with picked as materialized (
  select queue_id, id from longshore.job_scheduled as job
  where job.queue_id = $1::integer and id = any($2::uuid[]) order by queue_id, id
),
removed as (
  delete from longshore.job_scheduled as job using picked where job.queue_id = picked.queue_id and job.id = picked.id and job.queue_id = $1::integer
  returning job.*
),
ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed where not coalesce(meta ? 'concurrencyKey', false) order by id
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts from removed where coalesce(meta ? 'concurrencyKey', false) order by id
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from removed where coalesce(meta ? 'concurrencyKey', false)
),
transitions as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
  select queue_id, id, now(), -1, attempt, now(), 'run', jsonb_strip_nulls(jsonb_build_object('runAt', run_at))
  from removed
  on conflict do nothing
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, 'scheduled'::longshore.job_state, -count(*) from removed group by queue_id, 'scheduled'::longshore.job_state union all select queue_id, 'enqueued'::longshore.job_state, count(*) from removed group by queue_id, 'enqueued'::longshore.job_state
)
select id, true as changed from removed;

-- ==== src/jobs/job-transitions.sql.ts ====

-- longshore-select-transitions
with newest as (
  select * from longshore.job_report
  where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
  order by started_at desc limit $4
), listed as (
  select * from newest
  union all
  (select * from longshore.job_report
  where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
    and started_at < (select min(started_at) from newest)
  order by started_at limit 1)
)
select message as reason, at, attempt, fields as before,
  case when started_at < (select min(started_at) from newest) then 0 else (
    select count(*) from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
  )::integer - (select count(*) from listed)::integer end as omitted
from listed order by started_at;

-- ==== src/jobs/outbox.sql.ts ====

-- longshore-find-work
select exists (select 1 from longshore.outbox) as entries,
  exists (select 1 from longshore.job_dependency where not marked) as unmarked,
  exists (
    select 1 from longshore.set_aside where role = 'resolver' and item is not null and retry_at <= now() and discarded_at is null
  ) as aside;

-- longshore-insert-ends
insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
select 0, id, 'processing', to_state, case when gone then '{"hasDependents": true, "gone": true}' else '{"hasDependents": true}' end::jsonb
from unnest($1::uuid[], $2::longshore.job_state[], $3::boolean[]) as ended (id, to_state, gone);

-- longshore-take-outbox-entries
with taken as (
  delete from longshore.outbox
  where id in (select id from longshore.outbox order by id limit $1 for update skip locked)
  returning id, queue_id, job_id, from_state, to_state, meta
)
select id, queue_id, job_id, from_state, to_state, meta from taken order by id;

-- ==== src/jobs/ready-scans.sql.ts ====

-- longshore-delete-gaps
delete from longshore.scan_gap where xid >= $1::xid8 and xid < $2::xid8;

-- longshore-note-gaps
insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
select $1::integer, priority, $3::bigint + 1, last_value from longshore.job_seq, unnest($2::smallint[]) as priority;

-- longshore-oldest-transaction
select pg_snapshot_xmin(pg_current_snapshot())::text as xid;

-- longshore-poll-ready
with closed as (
  select queue_id, priority, first_seq, last_seq from longshore.scan_gap
  where xid >= pg_snapshot_xmax($1::pg_snapshot)
  union all
  select queue_id, priority, first_seq, last_seq
  from pg_snapshot_xip($1::pg_snapshot) as under_way (id) join longshore.scan_gap on scan_gap.xid = under_way.id
  union all
  select queue_id, priority, first_seq, last_seq from longshore.scan_gap
  where $1::pg_snapshot is null and queue_id = 0
)
select pg_current_snapshot()::text as snapshot, job_seq.last_value as seq,
  case when job_seq.last_value > $3::bigint then pg_current_xact_id()::text end as mark, closed.*, (
  select jsonb_object_agg(id, priorities) from longshore.queue where id = any($2::integer[]) and priorities <> '{}'
) as priorities, exists (select 1 from longshore.server where id = $4) as alive, array(
  select distinct range.queue_id
  from unnest($5::integer[], $6::smallint[], $7::bigint[], $8::bigint[]) as range (queue_id, priority, after, up_to)
  cross join lateral (
    select 1 from longshore.job
    where job.queue_id = range.queue_id and job.priority = range.priority and job.seq > range.after
      and job.seq <= range.up_to and job.server_id is null
      and coalesce(job.name = any ((select job_names from longshore.server where id = $4)::text[]), true)
      and job.name <> all (array(select name from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true))))
    limit 1
  ) as first
) as ready
from longshore.job_seq left join closed on true;

-- longshore-scan-state
with closed as (
  select queue_id, priority, first_seq, last_seq from longshore.scan_gap
  where xid >= pg_snapshot_xmax($1::pg_snapshot)
  union all
  select queue_id, priority, first_seq, last_seq
  from pg_snapshot_xip($1::pg_snapshot) as under_way (id) join longshore.scan_gap on scan_gap.xid = under_way.id
  union all
  select queue_id, priority, first_seq, last_seq from longshore.scan_gap
  where $1::pg_snapshot is null and queue_id = 0
)
select pg_current_snapshot()::text as snapshot, job_seq.last_value as seq,
  case when job_seq.last_value > $3::bigint then pg_current_xact_id()::text end as mark, closed.*, (
  select jsonb_object_agg(id, priorities) from longshore.queue where id = any($2::integer[]) and priorities <> '{}'
) as priorities
from longshore.job_seq left join closed on true;

-- longshore-select-last-place
select last_value as seq from longshore.job_seq;

-- longshore-sweep-ready
with names as materialized (
  select job_names as handled, array(select name from longshore.paused_type where (paused_at is not null and coalesce(paused_until > now(), true))) as paused from longshore.server where id = $2
)
select swept.id as queue_id, first.priority, first.seq
from unnest($1::integer[]) as swept (id)
cross join lateral (
  select priority, seq from longshore.job
  where queue_id = swept.id and server_id is null and coalesce(name = any ((select handled from names)::text[]), true)
    and name <> all ((select paused from names)::text[])
  order by priority, seq limit 1000
) as first;

-- ==== src/jobs/reports.sql.ts ====

-- longshore-count-lines
select count(*)::integer as lines
    from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line > 0
      and ($4::smallint is null or attempt = $4) having count(*) > 0;

-- longshore-insert-reports
with held as materialized (
  select claim.place, job.id, job.attempt, job.started_at
  from unnest($2::uuid[], $3::uuid[], $4::smallint[]) with ordinality as claim (id, server_id, attempt, place)
  join longshore.job on job.queue_id = $1 and job.id = claim.id
    and job.server_id = claim.server_id and job.attempt = claim.attempt
),
written as (
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, level, percent, message, fields)
  select $1, held.id, held.started_at, entry.line, held.attempt, entry.at, entry.level, entry.percent, entry.message, entry.fields
  from unnest($6::integer[], $7::integer[], $8::timestamptz[], $9::text[], $10::real[], $11::text[], $12::jsonb[])
    as entry (place, line, at, level, percent, message, fields)
  join held on held.place = entry.place
  where held.started_at > now() - $5::integer * interval '1 day'
  on conflict (queue_id, job_id, started_at, line) do update
  set at = excluded.at, percent = excluded.percent, message = excluded.message, written_at = now()
  where job_report.line = 0 and job_report.at <= excluded.at
)
select id, attempt from held;

-- longshore-select-latest-lines
select latest.* from unnest($1::integer[], $2::uuid[], $3::timestamptz[]) as wanted (queue_id, id, created_at),
  lateral (
    select job_id as "jobId", (extract(epoch from started_at) * 1000000)::bigint || '.' || line as id, attempt, at, level, message, fields
    from longshore.job_report as report
    where report.queue_id = wanted.queue_id and report.job_id = wanted.id
      and report.started_at >= wanted.created_at - interval '1 hour' and report.line > 0
    order by report.started_at desc, report.line desc
    limit $4
  ) as latest
order by latest.at desc
limit $4;

-- longshore-select-lines
select (extract(epoch from started_at) * 1000000)::bigint || '.' || line as id, attempt, at, level, message, fields

from longshore.job_report
where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line > 0
  and ($4::smallint is null or attempt = $4) and (started_at, line) > (timestamptz 'epoch' + $5::bigint * interval '1 microsecond', $6::integer)
order by started_at, line
limit $7 offset $8;

-- ==== src/jobs/signals.sql.ts ====

-- longshore-find-correlated
select found.* from longshore.queue cross join lateral (
  select queue_id, id from longshore.job where queue_id = queue.id and meta ? 'correlate' and meta ->> 'correlate' = $1::text
  union all select queue_id, id from longshore.job_blocked where queue_id = queue.id and meta ? 'correlate' and meta ->> 'correlate' = $1::text
  union all select queue_id, id from longshore.job_scheduled where queue_id = queue.id and meta ? 'correlate' and meta ->> 'correlate' = $1::text
  union all select queue_id, id from longshore.job_awaiting where queue_id = queue.id and meta ? 'correlate' and meta ->> 'correlate' = $1::text
) as found
order by id limit $2;

-- longshore-find-ends
select id, state, result, case when state <> 'done' then error end as error from longshore.job_history where id = any($1::uuid[]);

-- longshore-find-live
select found.* from longshore.queue cross join lateral (
  select queue_id, id from longshore.job where queue_id = queue.id and id = any($1::uuid[])
  union all select queue_id, id from longshore.job_blocked where queue_id = queue.id and id = any($1::uuid[])
  union all select queue_id, id from longshore.job_scheduled where queue_id = queue.id and id = any($1::uuid[])
  union all select queue_id, id from longshore.job_awaiting where queue_id = queue.id and id = any($1::uuid[])
) as found;

-- longshore-find-moved
select queue_id, job_id as id from longshore.moved_job where job_id = any($1::uuid[]);

-- longshore-move-signals
with taken as (
  delete from longshore.job_signal where queue_id = $1 and job_id = any($2::uuid[]) returning *
),
noted as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct $3::integer, job_id, 'processing'::longshore.job_state, 'processing'::longshore.job_state, '{"signalled": true}'::jsonb
  from taken
)
insert into longshore.job_signal (queue_id, job_id, name, id, data, at, sent_by)
select $3::integer, job_id, name, id, data, at, sent_by from taken
on conflict (queue_id, job_id, name, id) do nothing;

-- longshore-note-signals
insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
select $1::integer, id, 'processing', 'processing', '{"signalled": true}'::jsonb from unnest($2::uuid[]) as id;

-- longshore-request-cancellations
insert into longshore.job_cancellation (queue_id, job_id)
select $1::integer, id from unnest($2::uuid[]) as id order by id
on conflict (queue_id, job_id) do nothing;

-- longshore-store-signals
insert into longshore.job_signal (queue_id, job_id, name, id, data)
select $1::integer, job_id, name, id, data
from unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[]) as sent (job_id, name, id, data)
on conflict (queue_id, job_id, name, id) do nothing;

-- ==== src/maintain/bloat-control.ts ====

-- longshore-rewrite-counts
select longshore.rewrite_counts() as rewritten;

-- longshore-rewrite-small-table
select longshore.rewrite_small_table($1::regclass, 10000) as rewritten;

-- ==== src/maintain/chores.ts ====

-- longshore-find-chores
  select counted.foldable,
    array(
      select name from (values ('job_count', 1048576), ('outbox', 1048576), ('scan_gap', 1048576), ('queue_bucket', 262144), ('server', 262144))
        as small (name, most)
      where pg_relation_size(('longshore.' || name)::regclass) > most
    ) as bloated,
    exists (select 1 from longshore.job_cancellation as request where not exists (
select 1 from longshore.job
where job.queue_id = request.queue_id and job.id = request.job_id and server_id is not null)) as missed,
    (exists (select 1 from longshore.job_history_done_default) or exists (select 1 from longshore.job_history_failed_default) or exists (select 1 from longshore.job_history_cancelled_default) or exists (select 1 from longshore.job_report_default)) as strays,
    exists (select 1 from longshore.queue where retired_at is not null and (queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))) as returning
  from (select (count(*) - count(distinct (queue_id, state)))::integer as foldable from longshore.job_count) as counted;

-- ==== src/maintain/promotion.sql.ts ====

-- longshore-next-due
with ended as materialized (
  select min(since) as since from unnest($4::xid8[], $5::timestamptz[]) as transaction (id, since)
  where pg_visible_in_snapshot(id, pg_current_snapshot())
)
select pg_current_snapshot()::text as snapshot, now()::text as at,
  case when $6::boolean then pg_current_xact_id()::text end as mark, (
  select extract(epoch from least(min(wake_at), now() + interval '1 day') - now())::float8 * 1000 from longshore.key_rate
  where wake_at is not null
) as keys_due_in, next.*
from (values (1)) as one left join (
  select queue.id, first.run_at,
    extract(epoch from least(greatest(first.run_at, now() - interval '1 day'), now() + interval '1 day') - now())::float8 * 1000 as due_in,
    case when first.run_at <= now() then first.run_at::text end as due_at
  from longshore.queue
  left join unnest($2::integer[], $3::timestamptz[]) as earlier (queue_id, since) on earlier.queue_id = queue.id
  cross join lateral (
    select run_at from longshore.job_scheduled
    where queue_id = queue.id
      and run_at >= least(coalesce(earlier.since, $1::timestamptz), (select since from ended)) - interval '5 seconds'
    order by run_at limit 1
  ) as first
  where (queue.retired_at is null or queue.id in (
  select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
) or queue.name in (select unnest(server.queues) from longshore.server))
) as next on true
order by next.run_at;

-- longshore-promote-due
with due as materialized (
  select id from longshore.job_scheduled
  where queue_id = $1 and run_at >= $3::timestamptz and run_at <= now() and not exists (
    select 1 from longshore.job_cancellation as request
    where request.queue_id = $1 and request.job_id = job_scheduled.id) order by run_at limit $2
  for update skip locked
),
moved as (
  delete from longshore.job_scheduled using due
  where job_scheduled.queue_id = $1 and job_scheduled.id = due.id
  returning job_scheduled.*
),
arriving as (select *, run_at as due_at from moved),

ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where not coalesce(meta ? 'concurrencyKey', false) order by run_at
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where coalesce(meta ? 'concurrencyKey', false) order by run_at
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from (select count(*) as jobs from moved) as total,
    (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
  where total.jobs > 0
)
select count(*)::integer as promoted, coalesce(bool_or(meta ? 'concurrencyKey'), false) as blocked,
  (
    select jsonb_agg(jsonb_build_object('id', id, 'name', name))
    from (select id, name from moved where not coalesce(meta ? 'concurrencyKey', false) limit 9) as first
  ) as ready, (
    select extract(epoch from least(run_at, now() + interval '1 day') - now())::float8 * 1000 from longshore.job_scheduled
    where queue_id = $1 and run_at > now() order by run_at limit 1
  ) as next_due_in from moved;

-- longshore-promote-some
with due as materialized (
  select id from longshore.job_scheduled
  where queue_id = $1 and run_at <= now() and id = any($2::uuid[]) and not exists (
    select 1 from longshore.job_cancellation as request
    where request.queue_id = $1 and request.job_id = job_scheduled.id) order by run_at
  for update skip locked
),
moved as (
  delete from longshore.job_scheduled using due
  where job_scheduled.queue_id = $1 and job_scheduled.id = due.id
  returning job_scheduled.*
),
arriving as (select *, run_at as due_at from moved),

ready as (
  insert into longshore.job (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where not coalesce(meta ? 'concurrencyKey', false) order by run_at
),
blocked as (
  insert into longshore.job_blocked (queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at) select queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, meta, past_attempts, due_at from arriving where coalesce(meta ? 'concurrencyKey', false) order by run_at
),
arrived as (
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
    'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
  from arriving where coalesce(meta ? 'concurrencyKey', false)
),
counted as (
  insert into longshore.job_count (queue_id, state, jobs)
  select $1, change.state, change.sign * total.jobs
  from (select count(*) as jobs from moved) as total,
    (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
  where total.jobs > 0
)
select count(*)::integer as promoted, coalesce(bool_or(meta ? 'concurrencyKey'), false) as blocked,
  (
    select jsonb_agg(jsonb_build_object('id', id, 'name', name))
    from (select id, name from moved where not coalesce(meta ? 'concurrencyKey', false) limit 9) as first
  ) as ready, (
    select extract(epoch from least(run_at, now() + interval '1 day') - now())::float8 * 1000 from longshore.job_scheduled
    where queue_id = $1 and run_at > now() order by run_at limit 1
  ) as next_due_in from moved;

-- longshore-select-due
select id from longshore.job_scheduled
where queue_id = $1 and run_at >= $4::timestamptz and run_at <= now() and id <> all($2::uuid[])
order by run_at limit $3;

-- ==== src/maintain/rescue.sql.ts ====

-- longshore-declare-servers-dead
with silent as materialized (
  select id from longshore.server
  where greatest(heartbeat_at, pg_postmaster_start_time()) < now() - timeout_ms * interval '1 millisecond'
),
dead as (
  delete from longshore.server
  where id in (
    select server.id from longshore.server join silent using (id) order by server.id for update of server skip locked
  )
  returning id, host, pid, processing, concurrency, heartbeat_at
),
recorded as (
  insert into longshore.lost_server (id, host, pid, processing, concurrency, heartbeat_at)
  select id, host, pid, 0, concurrency, heartbeat_at from dead
),
forgotten as (
  delete from longshore.lost_server where lost_at < now() - interval '1 day' and exists (select 1 from dead)
)
select id, dead.id is not null as dead from silent left join dead using (id);

-- longshore-find-losses
select exists (
  select id from longshore.server
  where greatest(heartbeat_at, pg_postmaster_start_time()) < now() - timeout_ms * interval '1 millisecond'
  ) as servers,
  exists (select 1 from pg_stat_activity where application_name like 'longshore for %' and datname = current_database() and usename = current_user
  and application_name not in (
    select 'longshore for ' || id from longshore.server where id not in (
  select id from longshore.server
  where greatest(heartbeat_at, pg_postmaster_start_time()) < now() - timeout_ms * interval '1 millisecond')
  )) as transactions,
  array(
    select queue_id from longshore.job_count where state = 'processing' group by queue_id having sum(jobs) > 0
  ) as busy;

-- longshore-rescue-jobs
  with
  running as materialized (
    select id, server_id, started_at, priority, seq from longshore.job
    where queue_id = $1 and server_id is not null
    order by priority, seq
    limit (select sum(jobs) from longshore.job_count where queue_id = $1 and state = 'processing')
  ),
  placed as materialized (
    select running.id, running.server_id,
      row_number() over (partition by server_id order by running.started_at, priority, seq)
        <= coalesce(alive.concurrency, gone.concurrency, 2147483647) as started
    from running
    left join longshore.server as alive on alive.id = running.server_id
    left join lateral (
      select concurrency from longshore.lost_server where lost_server.id = running.server_id order by lost_at desc limit 1
    ) as gone on true
  ),
  lost as materialized (
    select job.id, job.queue_id, job.attempt, job.run_at, job.ready_at, job.started_at, job.server_id,
      placed.started or job.attempt >= job.max_attempts as counts,
      exists (
        select 1 from longshore.job_cancellation where job_cancellation.queue_id = $1 and job_id = job.id
      ) as cancelled,
      jsonb_build_object(
        'name', 'AttemptLost',
        'message', format('Server %s died or stopped renewing its lease while it ran attempt %s', job.server_id, job.attempt),
        'stack', null) as error
    from placed join longshore.job on job.queue_id = $1 and job.id = placed.id
    where job.server_id = placed.server_id and job.server_id is not null
      and (job.lease_until < now() or not exists (select 1 from longshore.server where server.id = job.server_id))
    order by job.id
    for update of job skip locked
  ),
  taken as (
    select server_id, count(*)::integer as jobs from lost where counts group by server_id
  ),
  latest_losses as materialized (
    select distinct on (id) id, lost_at from longshore.lost_server
    where id in (select server_id from taken) order by id, lost_at desc
  ),
  losses_counted as (
    update longshore.lost_server set processing = processing + jobs
    from taken, (
      select id, lost_at from longshore.lost_server join latest_losses using (id, lost_at) order by id for update of lost_server
    ) as mine
    where mine.id = taken.server_id and lost_server.id = mine.id and lost_server.lost_at = mine.lost_at
  ),
  released as (
    update longshore.job
    set server_id = null, started_at = null, lease_until = null,
      attempt = case when lost.counts then job.attempt else job.attempt - 1 end,
      ready_at = case when lost.counts then now() else job.ready_at end,
      due_at = case when lost.counts then null else job.due_at end,
      past_attempts = case when lost.counts then case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', job.attempt, 'outcome', 'lost', 'serverId', job.server_id, 'startedAt', job.started_at, 'finishedAt', now(),
        'error', lost.error, 'runAt', job.run_at, 'readyAt', job.ready_at) else past_attempts end
    from lost
    where job.queue_id = $1 and job.id = lost.id and job.attempt < job.max_attempts and not lost.cancelled
    returning job.priority, job.seq, lost.*
  ),

  gap as (
    insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
    select queue_id, priority, min(seq), max(seq) from released group by queue_id, priority
  ),
  unstarted as (
    select * from released where not counts
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'released', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
    from unstarted
    on conflict do nothing
  ),
  removed as (
    delete from longshore.job using lost
    where job.queue_id = $1 and job.id = lost.id and (job.attempt >= job.max_attempts or lost.cancelled)
    returning job.*, lost.error, case when lost.cancelled then 'cancelled' else 'failed' end::longshore.job_state as state
  ),
  failed as (
    insert into longshore.job_history_failed (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error)
    select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed where state = 'failed'
  ),
  cancelled as (
    insert into longshore.job_history_cancelled (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error)
    select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed where state = 'cancelled'
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, 'processing', state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  requests as (
    delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
  ),
  total as (
    select (select count(*) from released) as released,
      (select count(*) from removed where state = 'failed') as failed,
      (select count(*) from removed where state = 'cancelled') as cancelled
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select $1, change.state, change.jobs
    from total, lateral (values
      ('processing'::longshore.job_state, -(released + failed + cancelled)),
      ('enqueued', released), ('failed', failed), ('cancelled', cancelled)
    ) as change (state, jobs)
    where change.jobs <> 0
  )
  select released::integer, failed::integer, cancelled::integer from total;

-- longshore-rescue-some
  with
  running as materialized (
    select id, server_id, started_at, priority, seq from longshore.job
    where queue_id = $1 and server_id is not null
    order by priority, seq
    limit (select sum(jobs) from longshore.job_count where queue_id = $1 and state = 'processing')
  ),
  placed as materialized (
    select running.id, running.server_id,
      row_number() over (partition by server_id order by running.started_at, priority, seq)
        <= coalesce(alive.concurrency, gone.concurrency, 2147483647) as started
    from running
    left join longshore.server as alive on alive.id = running.server_id
    left join lateral (
      select concurrency from longshore.lost_server where lost_server.id = running.server_id order by lost_at desc limit 1
    ) as gone on true
  ),
  lost as materialized (
    select job.id, job.queue_id, job.attempt, job.run_at, job.ready_at, job.started_at, job.server_id,
      placed.started or job.attempt >= job.max_attempts as counts,
      exists (
        select 1 from longshore.job_cancellation where job_cancellation.queue_id = $1 and job_id = job.id
      ) as cancelled,
      jsonb_build_object(
        'name', 'AttemptLost',
        'message', format('Server %s died or stopped renewing its lease while it ran attempt %s', job.server_id, job.attempt),
        'stack', null) as error
    from placed join longshore.job on job.queue_id = $1 and job.id = placed.id
    where job.server_id = placed.server_id and job.server_id is not null
      and (job.lease_until < now() or not exists (select 1 from longshore.server where server.id = job.server_id)) and job.id = any($2::uuid[])
    order by job.id
    for update of job skip locked
  ),
  taken as (
    select server_id, count(*)::integer as jobs from lost where counts group by server_id
  ),
  latest_losses as materialized (
    select distinct on (id) id, lost_at from longshore.lost_server
    where id in (select server_id from taken) order by id, lost_at desc
  ),
  losses_counted as (
    update longshore.lost_server set processing = processing + jobs
    from taken, (
      select id, lost_at from longshore.lost_server join latest_losses using (id, lost_at) order by id for update of lost_server
    ) as mine
    where mine.id = taken.server_id and lost_server.id = mine.id and lost_server.lost_at = mine.lost_at
  ),
  released as (
    update longshore.job
    set server_id = null, started_at = null, lease_until = null,
      attempt = case when lost.counts then job.attempt else job.attempt - 1 end,
      ready_at = case when lost.counts then now() else job.ready_at end,
      due_at = case when lost.counts then null else job.due_at end,
      past_attempts = case when lost.counts then case when past_attempts -> 98 is not null then past_attempts - 1
else coalesce(past_attempts, '[]') end || jsonb_build_object(
        'attempt', job.attempt, 'outcome', 'lost', 'serverId', job.server_id, 'startedAt', job.started_at, 'finishedAt', now(),
        'error', lost.error, 'runAt', job.run_at, 'readyAt', job.ready_at) else past_attempts end
    from lost
    where job.queue_id = $1 and job.id = lost.id and job.attempt < job.max_attempts and not lost.cancelled
    returning job.priority, job.seq, lost.*
  ),

  gap as (
    insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
    select queue_id, priority, min(seq), max(seq) from released group by queue_id, priority
  ),
  unstarted as (
    select * from released where not counts
  ),

  transitions as (
    insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
    select queue_id, id, now(), -1, attempt, now(), 'released', jsonb_strip_nulls(jsonb_build_object('runAt', run_at, 'readyAt', ready_at, 'startedAt', started_at, 'serverId', server_id))
    from unstarted
    on conflict do nothing
  ),
  removed as (
    delete from longshore.job using lost
    where job.queue_id = $1 and job.id = lost.id and (job.attempt >= job.max_attempts or lost.cancelled)
    returning job.*, lost.error, case when lost.cancelled then 'cancelled' else 'failed' end::longshore.job_state as state
  ),
  failed as (
    insert into longshore.job_history_failed (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error)
    select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed where state = 'failed'
  ),
  cancelled as (
    insert into longshore.job_history_cancelled (queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error)
    select queue_id, id, created_at, ready_at, run_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta, past_attempts, error from removed where state = 'cancelled'
  ),

  outbox_entries as (
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, id, 'processing', state, meta from removed where meta ?| array['batchId', 'concurrencyKey', 'hasDependents', 'resumes', 'cancels']
  ),
  requests as (
    delete from longshore.job_cancellation using removed where job_cancellation.queue_id = $1 and job_id = removed.id
  ),
  total as (
    select (select count(*) from released) as released,
      (select count(*) from removed where state = 'failed') as failed,
      (select count(*) from removed where state = 'cancelled') as cancelled
  ),
  counted as (
    insert into longshore.job_count (queue_id, state, jobs)
    select $1, change.state, change.jobs
    from total, lateral (values
      ('processing'::longshore.job_state, -(released + failed + cancelled)),
      ('enqueued', released), ('failed', failed), ('cancelled', cancelled)
    ) as change (state, jobs)
    where change.jobs <> 0
  )
  select released::integer, failed::integer, cancelled::integer from total;

-- longshore-select-lost
with
running as materialized (
  select id, server_id, started_at, priority, seq from longshore.job
  where queue_id = $1 and server_id is not null
  order by priority, seq
  limit (select sum(jobs) from longshore.job_count where queue_id = $1 and state = 'processing')
)
select job.id from running join longshore.job on job.queue_id = $1 and job.id = running.id
where job.server_id is not null
    and (job.lease_until < now() or not exists (select 1 from longshore.server where server.id = job.server_id)) and job.id <> all($2::uuid[])
order by job.id limit $3;

-- ==== src/maintain/resumptions.ts ====

-- longshore-lock-recurring-when-due
select *, now() as now from longshore.recurring_job where id = $1 and (paused_at is not null and paused_until <= now()) for update;

-- longshore-resume-queue-when-due
update longshore.queue set paused_at = null, paused_by = null, pause_reason = null, paused_until = null where name = $1 and (paused_at is not null and paused_until <= now()) returning id;

-- longshore-select-pause-ends
select kind, key, greatest(extract(epoch from least(paused_until, now() + interval '1 day') - now()), 0)::float8 * 1000 as due_in
from (
  select 'queue' as kind, name as key, paused_until from longshore.queue where paused_at is not null and paused_until is not null
  union all
  select 'type', name, paused_until from longshore.paused_type where paused_until is not null
  union all
  select 'recurring', id, paused_until from longshore.recurring_job where paused_at is not null and paused_until is not null
) as pause
where not exists (
  select 1 from longshore.set_aside as aside
  where aside.role = 'resumer' and aside.key = pause.kind || ' ' || pause.key
    and (aside.retry_at > now() or aside.discarded_at is not null)
)
order by paused_until limit $1;

-- ==== src/notifications/notification-payload.ts ====

-- longshore-find-unclaimed
select 1 from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is null limit 1;

-- longshore-notify
select pg_notify('longshore', $1::text || ' ' || payload)::text, offered
from (
  select unnest($2::text[]) as payload, null as offered
  union all
  select coalesce(chosen.payload, 'ready:' || offer.digest), case when chosen.payload is not null then offer.digest end
  from jsonb_to_recordset($3::jsonb) as offer (queue text, digest text, jobs integer, names text[])
  left join lateral (
    select format('offer:%s:%s:%s', offer.digest, offer.jobs, server.id) as payload from longshore.server
    where state = 'running' and heartbeat_at > now() - timeout_ms * interval '0.5 milliseconds'
      and offer.queue = any (queues) and (job_names is null or job_names @> offer.names)
      and processing + offer.jobs <= concurrency
    order by random() limit 1
  ) as chosen on true
) as sent;

-- ==== src/queues/counters.ts ====

-- longshore-are-behind
select coalesce(sum(jobs), 0) > 1000 as behind
from longshore.job_count join longshore.queue on queue.id = queue_id
where state = 'enqueued' and not (paused_at is not null and coalesce(paused_until > now(), true));

-- longshore-fold-counts
with folded as (
  delete from longshore.job_count
  where ctid = any (array(select ctid from longshore.job_count for update skip locked))
  returning queue_id, state, jobs, at
),
ended as (
  insert into longshore.throughput as counted (queue_id, at, done, failed)
  select place.queue_id, place.at, coalesce(sum(jobs) filter (where state = 'done'), 0),
    coalesce(sum(jobs) filter (where state = 'failed'), 0)
  from folded
  cross join lateral (
    values (0, date_bin('10 seconds', folded.at, 'epoch')), (folded.queue_id, date_bin('1 minute', folded.at, 'epoch'))
  ) as place (queue_id, at)
  where folded.at is not null and jobs > 0 and state in ('done', 'failed')
  group by place.queue_id, place.at order by place.queue_id, place.at
  on conflict (queue_id, at) do update set done = counted.done + excluded.done, failed = counted.failed + excluded.failed
)
insert into longshore.job_count (queue_id, state, jobs, at)
select queue_id, state, sum(jobs), null from folded group by queue_id, state having sum(jobs) <> 0;

-- longshore-select-counts
select queue_id, sum(jobs::float8) filter (where state = 'scheduled') as scheduled, sum(jobs::float8) filter (where state = 'awaiting') as awaiting, sum(jobs::float8) filter (where state = 'enqueued') as enqueued, sum(jobs::float8) filter (where state = 'processing') as processing, sum(jobs::float8) filter (where state = 'done') as done, sum(jobs::float8) filter (where state = 'failed') as failed, sum(jobs::float8) filter (where state = 'cancelled') as cancelled
from longshore.job_count where $1::integer[] is null or queue_id = any($1)
group by queue_id;

-- longshore-select-holding
select state, count(*)::integer as queues, sum(jobs) as jobs, max(jobs) as most, array_agg(queue_id)::text as ids
from (
  select queue_id, state, sum(jobs::float8) as jobs from longshore.job_count
  where state = any($1::longshore.job_state[]) and ($2::integer[] is null or queue_id = any($2))
  group by queue_id, state having sum(jobs::float8) > 0
) as held
group by state;

-- longshore-select-totals
select state, sum(jobs::float8) as jobs from longshore.job_count group by state;

-- ==== src/queues/queue-id-cache.ts ====

-- longshore-add-priorities
update longshore.queue
set priorities = array(select distinct priority from unnest(priorities || $2::smallint[]) as priority order by priority)
where id = $1 and not priorities @> $2::smallint[];

-- longshore-make-queue
select longshore.queue_number($1, $2) as id;

-- longshore-select-queue
select id, name, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_at end as paused_at, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_by end as paused_by, case when (paused_at is not null and coalesce(paused_until > now(), true)) then pause_reason end as pause_reason, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_until end as paused_until, concurrency_limit, rate_limit, in_code, created_at from longshore.queue where name = $1 and (queue.retired_at is null or queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server));

-- longshore-select-queue-ids
select id, name from longshore.queue where name = any($1::text[]);

-- longshore-select-queue-ids-within
select id, name, age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid) as settled from longshore.queue where name = any($1::text[]);

-- longshore-select-queue-name
select id, name from longshore.queue where id = $1;

-- longshore-select-queue-name-within
select id, name, age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid) as settled from longshore.queue where id = $1;

-- longshore-select-queues
select id, name, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_at end as paused_at, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_by end as paused_by, case when (paused_at is not null and coalesce(paused_until > now(), true)) then pause_reason end as pause_reason, case when (paused_at is not null and coalesce(paused_until > now(), true)) then paused_until end as paused_until, concurrency_limit, rate_limit, in_code, created_at from longshore.queue where (queue.retired_at is null or queue.id in (
      select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
    ) or queue.name in (select unnest(server.queues) from longshore.server)) order by name collate "und-x-icu";

-- longshore-set-queue-cap
update longshore.queue_cap set max_queues = $1 where max_queues <> $1;

-- ==== src/read/failures.sql.ts ====

-- longshore-select-earlier-failed
  select listed.id, listed.queue_id, listed.state, listed.name, listed.priority, listed.error, listed.attempt, listed.max_attempts, listed.created_at, listed.run_at, listed.ready_at, listed.started_at, listed.finished_at, listed.server_id, listed.meta, listed.past_attempts, case when pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000 then listed.args end as args, not (pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000) as args_left_out, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = listed.queue_id and report.job_id = listed.id and report.started_at = listed.started_at and line = 0
) as progress,
case when listed.server_id is not null and listed.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = listed.queue_id and request.job_id = listed.id
) end as cancellation
  from (
    select id, queue_id, 'failed'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history_failed where (finished_at, id) < (least((select finished_at from longshore.job_history_failed where id = $2::uuid limit 1), $3::timestamptz + interval '1 millisecond'), $2::uuid)
    order by finished_at desc, id desc limit $1::integer
  ) as listed
  order by finished_at desc, id desc;

-- longshore-select-earlier-failed-of
  select listed.id, listed.queue_id, listed.state, listed.name, listed.priority, listed.error, listed.attempt, listed.max_attempts, listed.created_at, listed.run_at, listed.ready_at, listed.started_at, listed.finished_at, listed.server_id, listed.meta, listed.past_attempts, case when pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000 then listed.args end as args, not (pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000) as args_left_out, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = listed.queue_id and report.job_id = listed.id and report.started_at = listed.started_at and line = 0
) as progress,
case when listed.server_id is not null and listed.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = listed.queue_id and request.job_id = listed.id
) end as cancellation
  from (
    select id, queue_id, 'failed'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history_failed where queue_id = $2::integer and (finished_at, id) < (least((select finished_at from longshore.job_history_failed where id = $3::uuid limit 1), $4::timestamptz + interval '1 millisecond'), $3::uuid)
    order by finished_at desc, id desc limit $1::integer
  ) as listed
  order by finished_at desc, id desc;

-- longshore-select-latest-failed
  select listed.id, listed.queue_id, listed.state, listed.name, listed.priority, listed.error, listed.attempt, listed.max_attempts, listed.created_at, listed.run_at, listed.ready_at, listed.started_at, listed.finished_at, listed.server_id, listed.meta, listed.past_attempts, case when pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000 then listed.args end as args, not (pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000) as args_left_out, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = listed.queue_id and report.job_id = listed.id and report.started_at = listed.started_at and line = 0
) as progress,
case when listed.server_id is not null and listed.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = listed.queue_id and request.job_id = listed.id
) end as cancellation
  from (
    select id, queue_id, 'failed'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history_failed where true
    order by finished_at desc, id desc limit $1::integer
  ) as listed
  order by finished_at desc, id desc;

-- longshore-select-latest-failed-of
  select listed.id, listed.queue_id, listed.state, listed.name, listed.priority, listed.error, listed.attempt, listed.max_attempts, listed.created_at, listed.run_at, listed.ready_at, listed.started_at, listed.finished_at, listed.server_id, listed.meta, listed.past_attempts, case when pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000 then listed.args end as args, not (pg_column_size(listed.args) <= 8000 and octet_length(listed.args::text) <= 8000) as args_left_out, null::jsonb as result, (
  select json_build_object('percent', percent, 'message', message) from longshore.job_report as report
  where report.queue_id = listed.queue_id and report.job_id = listed.id and report.started_at = listed.started_at and line = 0
) as progress,
case when listed.server_id is not null and listed.finished_at is null then (
  select json_build_object('requestedAt', requested_at, 'reason', reason) from longshore.job_cancellation as request
  where request.queue_id = listed.queue_id and request.job_id = listed.id
) end as cancellation
  from (
    select id, queue_id, 'failed'::longshore.job_state as state, name, priority, args, result, error, attempt, max_attempts,
created_at, run_at, ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history_failed where queue_id = $2::integer
    order by finished_at desc, id desc limit $1::integer
  ) as listed
  order by finished_at desc, id desc;

-- ==== src/read/feed.sql.ts ====

-- longshore-select-created
  select job.* from longshore.queue cross join lateral (

    select
id, queue_id, 'enqueued'::longshore.job_state as state, name, attempt, created_at, run_at,
null::timestamptz as started_at, null::uuid as server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', created_at) as entry_at from longshore.job as job
    where id >= $10::uuid and created_at >= $1::timestamptz and created_at < $3::timestamptz and (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2::uuid) and queue_id = queue.id and server_id is null
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9)) union all
    select
id, queue_id, 'enqueued'::longshore.job_state as state, name, attempt, created_at, run_at,
null::timestamptz as started_at, null::uuid as server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', created_at) as entry_at from longshore.job_blocked as job
    where id >= $10::uuid and created_at >= $1::timestamptz and created_at < $3::timestamptz and (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2::uuid) and queue_id = queue.id
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9)) union all
    select
id, queue_id, 'scheduled'::longshore.job_state as state, name, attempt, created_at, run_at,
null::timestamptz as started_at, null::uuid as server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', created_at) as entry_at from longshore.job_scheduled as job
    where id >= $10::uuid and created_at >= $1::timestamptz and created_at < $3::timestamptz and (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2::uuid) and queue_id = queue.id
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9)) union all
    select
id, queue_id, 'awaiting'::longshore.job_state as state, name, attempt, created_at, run_at,
null::timestamptz as started_at, null::uuid as server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', created_at) as entry_at from longshore.job_awaiting as job
    where id >= $10::uuid and created_at >= $1::timestamptz and created_at < $3::timestamptz and (date_trunc('milliseconds', created_at), id) > ($1::timestamptz, $2::uuid) and queue_id = queue.id
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9))
  ) as job
  where (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
  order by entry_at, id limit $4;

-- longshore-select-ended
select id, queue_id, state, name, attempt, created_at, run_at, started_at, server_id, finished_at, null::jsonb as error,
  meta, case when jsonb_typeof(past_attempts) = 'array' then (
    select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
    from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
  ) else past_attempts end as past_attempts, date_trunc('milliseconds', finished_at) as entry_at
from longshore.job_history
where state = any($10::longshore.job_state[]) and finished_at >= $1::timestamptz and finished_at < $3::timestamptz and (date_trunc('milliseconds', finished_at), id) > ($1::timestamptz, $2::uuid)
    and ($5::integer[] is null or queue_id = any($5))
    and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
    and ($8::text[] is null or meta ->> 'batchId' = any($8))
    and ($9::text[] is null or meta ->> 'recurringJobId' = any($9))
order by entry_at, id limit $4;

-- longshore-select-reports
select report.queue_id, job_id, job.name, job.meta, attempt, written_at, level, percent, message, fields, case when line > 0 then (extract(epoch from started_at) * 1000000)::bigint || '.' || line end as line, date_trunc('milliseconds', written_at) as entry_at
from longshore.job_report as report cross join lateral (
  select name, meta from longshore.job where queue_id = report.queue_id and id = report.job_id
  union all select name, meta from longshore.job_blocked where queue_id = report.queue_id and id = report.job_id
  union all select name, meta from longshore.job_scheduled where queue_id = report.queue_id and id = report.job_id
  union all select name, meta from longshore.job_awaiting where queue_id = report.queue_id and id = report.job_id
  union all select name, meta from longshore.job_history where queue_id = report.queue_id and id = report.job_id limit 1) as job
where line >= 0 and written_at >= $1::timestamptz and written_at < $3::timestamptz and (date_trunc('milliseconds', written_at), job_id) > ($1::timestamptz, $2::uuid)
    and ($5::integer[] is null or report.queue_id = any($5))
    and ($6::text[] is null or job.name = any($6)) and ($7::text[] is null or job.meta -> 'tags' ?| $7)
    and ($8::text[] is null or job.meta ->> 'batchId' = any($8))
    and ($9::text[] is null or job.meta ->> 'recurringJobId' = any($9))
order by entry_at, job_id
fetch first ($4) rows with ties;

-- longshore-select-reports-of-job
select page.*, job.name, job.meta from (
  select report.queue_id, job_id, attempt, written_at, level, percent, message, fields, case when line > 0 then (extract(epoch from started_at) * 1000000)::bigint || '.' || line end as line,
    date_trunc('milliseconds', written_at) as entry_at
  from longshore.queue
  join longshore.job_report as report on report.queue_id = queue.id and report.job_id = $1
  where written_at >= $2 and line >= 0
  order by entry_at
  fetch first ($3) rows with ties
) as page
cross join lateral (
  select name, meta from longshore.job where queue_id = page.queue_id and id = page.job_id
  union all select name, meta from longshore.job_blocked where queue_id = page.queue_id and id = page.job_id
  union all select name, meta from longshore.job_scheduled where queue_id = page.queue_id and id = page.job_id
  union all select name, meta from longshore.job_awaiting where queue_id = page.queue_id and id = page.job_id
  union all select name, meta from longshore.job_history where queue_id = page.queue_id and id = page.job_id limit 1) as job
order by written_at, line;

-- longshore-select-retried
  select
id, queue_id, 'scheduled'::longshore.job_state as state, name, attempt, created_at, run_at,
null::timestamptz as started_at, null::uuid as server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', retried_at) as entry_at from longshore.job_scheduled
  where retried_at >= $1::timestamptz and retried_at < $3::timestamptz and (date_trunc('milliseconds', retried_at), id) > ($1::timestamptz, $2::uuid)
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9))
  order by entry_at, id limit $4;

-- longshore-select-started
  select job.* from longshore.queue cross join lateral (
    select
id, queue_id, 'processing'::longshore.job_state as state, name, attempt, created_at, run_at,
started_at, server_id,
null::timestamptz as finished_at, null::jsonb as error, meta, case when jsonb_typeof(past_attempts) = 'array' then (
      select jsonb_agg(case when jsonb_typeof(past) = 'object' then past - 'error' else past end order by place)
      from jsonb_array_elements(past_attempts) with ordinality as past_attempt (past, place)
    ) else past_attempts end as past_attempts, date_trunc('milliseconds', started_at) as entry_at from (
select * from longshore.job where queue_id = queue.id and server_id is not null
order by priority, seq
limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = queue.id and state = 'processing')) as running where started_at >= $1::timestamptz and started_at < $3::timestamptz and (date_trunc('milliseconds', started_at), id) > ($1::timestamptz, $2::uuid)
      and ($5::integer[] is null or queue_id = any($5))
      and ($6::text[] is null or name = any($6)) and ($7::text[] is null or meta -> 'tags' ?| $7)
      and ($8::text[] is null or meta ->> 'batchId' = any($8))
      and ($9::text[] is null or meta ->> 'recurringJobId' = any($9))
  ) as job
  where (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
  order by entry_at, id limit $4;

-- longshore-settled-up-to
select pg_current_snapshot()::text as snapshot,
  least(now(), min(case
    when application_name like 'longshore%' and xact_start is not null then xact_start
    else greatest(xact_start, now() - interval '1 minute')
  end)) - interval '500 milliseconds' as settled
from pg_stat_get_activity(null)
where datid = (select oid from pg_catalog.pg_database where datname = current_database())
  and pid <> pg_backend_pid()
  and (backend_xid is not null or (application_name like 'longshore%' and xact_start is not null));

-- longshore-summarize-times
select brin_summarize_new_values(index.indexrelid)
from pg_catalog.pg_index as index
join pg_catalog.pg_class as part on part.oid = index.indrelid
join pg_catalog.pg_class as made on made.oid = index.indexrelid
where part.relnamespace = 'longshore'::regnamespace and part.relname = any($1::text[])
  and made.relam = (select oid from pg_catalog.pg_am where amname = 'brin');

-- ==== src/read/leases.ts ====

-- longshore-select-lease
select queue_id, id, server_id, attempt, lease_until, exists (select 1 from pg_locks where locktype = 'transactionid' and granted and transactionid = job.xmax) as locked
from longshore.job where queue_id = $1 and id = $2 and server_id is not null;

-- longshore-select-stalled-leases
with expired as materialized (
  select job.queue_id, job.id
  from (
    select queue_id as id, sum(jobs) as running from longshore.job_count where state = 'processing'
    group by queue_id having sum(jobs) > 0
  ) as queue cross join lateral (
    select queue_id, id, server_id, lease_until from longshore.job where queue_id = queue.id and server_id is not null
    order by priority, seq limit queue.running
  ) as job
  where job.lease_until < now() - $1::float8 * interval '1 millisecond'
    and exists (select 1 from longshore.server where server.id = job.server_id)
  order by job.lease_until limit $2
)
select job.queue_id, job.id, job.server_id, job.attempt, job.lease_until, false as locked
from expired join longshore.job on job.queue_id = expired.queue_id and job.id = expired.id
where job.server_id is not null and not exists (select 1 from pg_locks where locktype = 'transactionid' and granted and transactionid = job.xmax)
order by job.lease_until;

-- ==== src/read/sorted-jobs.sql.ts ====

-- longshore-select-job-times
  select queue_id, run_at, started_at, finished_at, run_at::text as run_at_text, started_at::text as started_at_text,
    finished_at::text as finished_at_text
  from (
select id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, finished_at, server_id, meta, past_attempts from longshore.job_history where id = $1
union all
select found.* from longshore.queue cross join lateral (
  select id, queue_id, case when server_id is null then 'enqueued' else 'processing' end::longshore.job_state as state, name,
priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts from longshore.job where queue_id = queue.id and id = $1
    union all select id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_blocked where queue_id = queue.id and id = $1
    union all select id, queue_id, 'scheduled'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
meta, past_attempts from longshore.job_scheduled where queue_id = queue.id and id = $1
    union all select id, queue_id, 'awaiting'::longshore.job_state as state, name, priority, args, null::jsonb as result,
past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id,
case when delay_ms is null then meta else coalesce(meta, '{}') || jsonb_build_object('delayMs', delay_ms) end as meta, past_attempts from longshore.job_awaiting where queue_id = queue.id and id = $1
) as found
where ($2::integer is null or queue.id = $2::integer) and (queue.retired_at is null or queue.id in (
    select queue_id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing') group by queue_id having sum(jobs) > 0
  ) or queue.name in (select unnest(server.queues) from longshore.server))
limit 1) as found limit 1;

-- ==== src/records/alerts.ts ====

-- longshore-delete-alert-message
delete from longshore.alert_message where id = $1 and target = $2;

-- longshore-delete-old-alert-messages
delete from longshore.alert_message where created_at < now() - $1::float8 * interval '1 millisecond';

-- longshore-fail-alert-message
update longshore.alert_message
set attempts = attempts + 1, error = $3, next_at = now() + $4::float8 * interval '1 millisecond'
where id = $1 and target = $2;

-- longshore-insert-alert-messages
insert into longshore.alert_message (id, target, content, created_at, next_at)
with registered as materialized (
  select target from longshore.alert_target
  where registered_at > $4::timestamptz - $5::float8 * interval '1 millisecond'
)
select id, target, content, $4::timestamptz, due_at
from unnest($1::uuid[], $2::jsonb[], $3::timestamptz[], $6::jsonb[]) as message (id, content, due_at, tell), registered
where tell is null or jsonb_exists(tell, target)
  or not exists (select from registered as named where jsonb_exists(tell, named.target));

-- longshore-lock-alert-message
select attempts, extract(epoch from clock_timestamp() - created_at)::float8 * 1000 as age
from longshore.alert_message where id = $1 and target = $2 for update;

-- longshore-register-alert-targets
insert into longshore.alert_target (target, registered_at)
select target, clock_timestamp() from unnest($1::text[]) as target order by target
on conflict (target) do update set registered_at = excluded.registered_at;

-- longshore-select-alert-failures
select * from longshore.alert_message where error is not null order by id desc limit $1;

-- longshore-take-alert-messages
with due as materialized (
  select id, target from longshore.alert_message
  where target = any($1::text[]) and next_at <= now()
  order by attempts, id limit $2
  for update skip locked
)
update longshore.alert_message as message set next_at = now() + $3::float8 * interval '1 millisecond'
from due where message.id = due.id and message.target = due.target
returning message.*;

-- longshore-withdraw-alert-messages
delete from longshore.alert_message
where content->>'type' = 'warning.ended' and (content->'incident'->>'id')::uuid = any($1::uuid[]);

-- ==== src/records/audit.ts ====

-- longshore-count-some-audit
select count(*)::integer as counted from (
  select 1 from longshore.audit where who = coalesce($2::text, who) and action = coalesce($3::text, action)
  and at >= coalesce($4::timestamptz, '-infinity') and at < coalesce($5::timestamptz, 'infinity') limit $1) as some_of_them;

-- longshore-count-some-audit-of
select count(*)::integer as counted from (
  select 1 from longshore.audit where who = coalesce($2::text, who) and action = coalesce($3::text, action)
  and at >= coalesce($4::timestamptz, '-infinity') and at < coalesce($5::timestamptz, 'infinity') and target = $6 limit $1) as some_of_them;

-- longshore-delete-old-audit
delete from longshore.audit where at < now() - interval '400 days';

-- longshore-insert-audit
insert into longshore.audit (who, action, target, filter, count, reason) values ($1, $2, $3, $4, $5, $6);

-- longshore-select-newest-audit
select id, at, who, action, target, filter, count, reason from longshore.audit
where (at, id) < (
    case when $3::bigint is null then 'infinity' else (select at from longshore.audit where id = $3) end, coalesce($3, 0))
  and who = coalesce($4::text, who) and action = coalesce($5::text, action)
and at >= coalesce($6::timestamptz, '-infinity') and at < coalesce($7::timestamptz, 'infinity')
order by at desc, id desc limit $1 offset $2;

-- longshore-select-newest-audit-of
select id, at, who, action, target, filter, count, reason from longshore.audit
where (at, id) < (
    case when $3::bigint is null then 'infinity' else (select at from longshore.audit where id = $3) end, coalesce($3, 0))
  and who = coalesce($4::text, who) and action = coalesce($5::text, action)
and at >= coalesce($6::timestamptz, '-infinity') and at < coalesce($7::timestamptz, 'infinity') and target = $8
order by at desc, id desc limit $1 offset $2;

-- longshore-select-oldest-audit
select id, at, who, action, target, filter, count, reason from longshore.audit
where (at, id) > (
    case when $3::bigint is null then '-infinity' else (select at from longshore.audit where id = $3) end, coalesce($3, 0))
  and who = coalesce($4::text, who) and action = coalesce($5::text, action)
and at >= coalesce($6::timestamptz, '-infinity') and at < coalesce($7::timestamptz, 'infinity')
order by at asc, id asc limit $1 offset $2;

-- longshore-select-oldest-audit-of
select id, at, who, action, target, filter, count, reason from longshore.audit
where (at, id) > (
    case when $3::bigint is null then '-infinity' else (select at from longshore.audit where id = $3) end, coalesce($3, 0))
  and who = coalesce($4::text, who) and action = coalesce($5::text, action)
and at >= coalesce($6::timestamptz, '-infinity') and at < coalesce($7::timestamptz, 'infinity') and target = $8
order by at asc, id asc limit $1 offset $2;

-- ==== src/records/bulk-operations.sql.ts ====

-- longshore-advance-bulk
update longshore.bulk_operation
set cursor = $2, seen = seen + $3, changed = changed + $4, skipped = skipped + $5, restored = restored + $7,
  state = case when $6::boolean then 'done' else state end, finished_at = case when $6::boolean then now() end
where id = $1;

-- longshore-count-some-bulks
select count(*)::integer as counted from (select 1 from longshore.bulk_operation limit $1) as some_of_them;

-- longshore-delete-old-bulk
with old as materialized (
  select id from longshore.bulk_operation where finished_at < now() - interval '30 days' order by id limit 1
  for update skip locked
),
job as (
  delete from longshore.bulk_operation_job
  where (operation_id, job_id) in (
    select operation_id, job_id from longshore.bulk_operation_job where operation_id = (select id from old) limit $1
  )
  returning 1
),
ended as (
  delete from longshore.bulk_operation where id = (select id from old) and (select count(*) from job) < $1
)
select exists (select 1 from old) as more;

-- longshore-end-bulk
update longshore.bulk_operation set state = $2, error = $3, finished_at = now()
where id = $1 and state = 'running';

-- longshore-insert-bulk
  insert into longshore.bulk_operation
    (id, action, filter, requested_by, matched, matched_exact, as_of, first_ids, max_jobs, starts_at, dependents, visible_queues, reason, run_at, to_name)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, case when $10::float8 is not null then now() + least(greatest($10::float8, 0), 315360000000) * interval '1 millisecond' end, $11, $12, $13, $14, $15)
  returning id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error;

-- longshore-lock-bulk
select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
  cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
  coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation where id = $1 for update;

-- longshore-select-bulk
select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
  cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
  coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation where id = $1;

-- longshore-select-newest-bulks
    select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation
    where id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by id desc limit $1 offset $2;

-- longshore-select-newest-changed
select job_id as id from longshore.bulk_operation_job
where operation_id = $1 and job_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
order by job_id desc limit $3;

-- longshore-select-oldest-bulks
    select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation
    where id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
    order by id limit $1 offset $2;

-- longshore-select-oldest-changed
select job_id as id from longshore.bulk_operation_job
where operation_id = $1 and job_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
order by job_id limit $3;

-- longshore-select-running-bulks
select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
  cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
  coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation
    where state = 'running' and starts_at <= now() order by id limit $1;

-- longshore-take-bulk
  select id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error from longshore.bulk_operation where id = $1 and state = 'running'
  for update skip locked;

-- ==== src/records/deployments.ts ====

-- longshore-delete-deployment
delete from longshore.deployment where id = $1 returning id, version, at, note, source;

-- longshore-delete-old-deployments
delete from longshore.deployment where at < now() - $1::integer * interval '1 day';

-- longshore-delete-old-versions
delete from longshore.server_version
where noted_at < now() - $1::integer * interval '1 day'
  and not exists (select 1 from longshore.server where id = server_id);

-- longshore-insert-deployment
insert into longshore.deployment (id, version, at, note, source) values ($1, $2, coalesce($3::timestamptz, now()), $4, 'api')
returning id, version, at, note, source;

-- longshore-lock-versions
select pg_advisory_xact_lock(longshore.lock_key('server_version'))::text;

-- longshore-note-version
with new_deployment as (
  insert into longshore.deployment (id, version, source)
  select $3::uuid, $2::text, 'server'
  where not exists (
      select 1 from longshore.server_version join longshore.server on server.id = server_id
      where version = $2 and server_id <> $1)
    and (select version from longshore.deployment where at <= now() order by at desc limit 1) is distinct from $2
)
insert into longshore.server_version (server_id, version) values ($1, $2);

-- longshore-select-deployments
select id, version, at, note, source from longshore.deployment
where ($1::uuid is null or id = $1) and ($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)
order by at desc, id desc limit 1000;

-- longshore-select-versions
select server_id as id, version from longshore.server_version where server_id = any($1);

-- ==== src/records/incidents.ts ====

-- longshore-acknowledge-incident
update longshore.incident
set acknowledged_at = clock_timestamp(), acknowledged_by = $2::text, acknowledge_reason = $3::text
where id = $1::uuid;

-- longshore-delete-old-incidents
delete from longshore.incident
where ended_at < $1::timestamptz - $2::float8 * interval '1 millisecond'
  or ended_at is not null and id <= (
    select id from longshore.incident where ended_at is not null order by id desc offset $3 limit 1
  );

-- longshore-find-incident
select * from longshore.incident where id = $1::uuid;

-- longshore-lock-incident-turn
select clock_timestamp() as now from longshore.incident_turn for update;

-- longshore-mute-incident
update longshore.incident
set muted_until = $2::timestamptz, muted_by = $3::text, mute_reason = $4::text
where key = (select key from longshore.incident where id = $1::uuid);

-- longshore-select-current-incidents
select * from longshore.incident
where ended_at is null or ended_at > $1::timestamptz - $2::float8 * interval '1 millisecond' or muted_until > $1
order by id limit 20000;

-- longshore-select-incidents
select * from longshore.incident
where ($1::boolean is null or (ended_at is null) = $1) and ($2::uuid is null or id < $2)
order by id desc limit $3;

-- longshore-take-incident-turn
update longshore.incident_turn set taken_at = clock_timestamp()
where taken_at <= clock_timestamp() - $1::float8 * interval '1 millisecond' or taken_at > clock_timestamp()
returning single;

-- longshore-upsert-incidents
insert into longshore.incident (id, kind, key, subject, text, advice, link, is_measured, is_recovering, since, seen_at, ended_at, ending, announced, muted_until, muted_by, mute_reason, tell)
select id, kind, key, subject, text, advice, link, is_measured, is_recovering, since, seen_at, ended_at, ending, announced, muted_until, muted_by, mute_reason, tell from json_to_recordset($1::json) as incident (id uuid, kind text, key text, subject text, text text, advice text, link text, is_measured boolean, is_recovering boolean, since timestamptz, seen_at timestamptz, ended_at timestamptz, ending text, announced boolean, muted_until timestamptz, muted_by text, mute_reason text, tell jsonb)
on conflict (id) do update set since = excluded.since, subject = excluded.subject, text = excluded.text, advice = excluded.advice, link = excluded.link, is_measured = excluded.is_measured, is_recovering = excluded.is_recovering, seen_at = excluded.seen_at, ended_at = excluded.ended_at, ending = excluded.ending, tell = excluded.tell;

-- ==== src/records/installation.ts ====

-- longshore-delete-alert-messages
delete from longshore.alert_message;

-- longshore-delete-alert-targets
delete from longshore.alert_target;

-- longshore-lock-installation
select paused_at from longshore.installation for update;

-- longshore-pause-copy
  insert into longshore.installation as stored (fingerprint, paused_at) values (concat_ws(' ', (select system_identifier from pg_control_system()),
(select oid from pg_database where datname = current_database()), left(pg_walfile_name(pg_current_wal_lsn()), 8)), now())
  on conflict (is_only) do update set fingerprint = excluded.fingerprint, paused_at = excluded.paused_at
    where stored.paused_at is null and stored.fingerprint <> excluded.fingerprint
  returning paused_at;

-- longshore-resume-installation
update longshore.installation set paused_at = null, fingerprint = concat_ws(' ', (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()), left(pg_walfile_name(pg_current_wal_lsn()), 8));

-- longshore-select-installation
select paused_at from longshore.installation;

-- ==== src/records/saved-searches.ts ====

-- longshore-delete-saved-search
delete from longshore.saved_search where name = $1;

-- longshore-lock-saved-searches
select pg_advisory_xact_lock(longshore.lock_key('saved_search'))::text;

-- longshore-select-saved-search
select name, query, saved_by as "savedBy", saved_at as "savedAt" from longshore.saved_search where name = $1;

-- longshore-select-saved-searches
select name, query, saved_by as "savedBy", saved_at as "savedAt" from longshore.saved_search order by name collate "und-x-icu";

-- longshore-upsert-saved-search
insert into longshore.saved_search (name, query, saved_by)
select $1::text, $2::text, $3::text
where (select count(*) from longshore.saved_search where name <> $1) < $4::integer
on conflict (name) do update
  set query = excluded.query, saved_by = excluded.saved_by, saved_at = excluded.saved_at
returning name;

-- ==== src/records/set-aside.ts ====

-- longshore-count-aside
select role, count(*)::integer as items from longshore.set_aside where discarded_at is null group by role;

-- longshore-delete-aside
delete from longshore.set_aside where id = $1;

-- longshore-delete-old-aside
delete from longshore.set_aside
where item is null and discarded_at is null and role <> 'bulk' and retry_at < now() - interval '1 hour'
  or role = 'bulk' and failed_at < now() - interval '30 days'
  or discarded_at < now() - interval '30 days';

-- longshore-delete-processed-aside
delete from longshore.set_aside where role = $1 and key = any($2::text[]);

-- longshore-discard-aside
update longshore.set_aside set discarded_at = now() where id = $1 and discarded_at is null returning id;

-- longshore-find-aside
select aside.id::text, role, key, queue.name as queue, job_id, error, failures, aside.created_at, failed_at,
      case when role <> 'bulk' then retry_at end as retry_at
    from longshore.set_aside as aside left join longshore.queue on queue.id = aside.queue_id where aside.id = $1 and discarded_at is null;

-- longshore-insert-aside
insert into longshore.set_aside as aside (role, key, queue_id, job_id, item, error)
select $1, $2, $3::integer, $4::uuid, $5::jsonb, $6::jsonb
where (select count(*) from longshore.set_aside where role = $1 and discarded_at is null) < 1000
  or exists (select 1 from longshore.set_aside where role = $1 and key = $2)
on conflict (role, key) do update
set error = excluded.error, failures = aside.failures + 1, failed_at = now(), retry_at = now() + interval '1 minute' * least(power(2, aside.failures), 60),
  item = case when aside.item @> excluded.item then aside.item else coalesce(aside.item || excluded.item, excluded.item, aside.item) end
returning failures = 1 as fresh;

-- longshore-lock-aside
select aside.id::text, role, key, queue.name as queue, job_id, error, failures, aside.created_at, failed_at,
      case when role <> 'bulk' then retry_at end as retry_at
    from longshore.set_aside as aside left join longshore.queue on queue.id = aside.queue_id where aside.id = $1 and discarded_at is null for update of aside;

-- longshore-lock-aside-due
select id, key, queue_id, job_id, item from longshore.set_aside
where role = $1 and item is not null and retry_at <= now() and discarded_at is null
order by id limit $2
for update skip locked;

-- longshore-retry-aside
update longshore.set_aside set retry_at = now() where id = $1 and discarded_at is null returning id;

-- longshore-select-aside
select aside.id::text, role, key, queue.name as queue, job_id, error, failures, aside.created_at, failed_at,
  case when role <> 'bulk' then retry_at end as retry_at
from longshore.set_aside as aside left join longshore.queue on queue.id = aside.queue_id where discarded_at is null and ($2::bigint is null or aside.id < $2)
order by aside.id desc limit $1;

-- longshore-select-excluded-keys
select key from longshore.set_aside
where role = $1 and (retry_at > now() or discarded_at is not null);

-- ==== src/records/warning-rules.ts ====

-- longshore-delete-other-warning-rules
delete from longshore.warning_rule where application = $1 and name <> all($2::text[]) returning name;

-- longshore-select-warning-rules
select application, name, rule, updated_at from longshore.warning_rule order by application, name limit 1000;

-- longshore-upsert-warning-rules
insert into longshore.warning_rule as stored (application, name, rule)
select $1::text, name, rule from unnest($2::text[], $3::jsonb[]) as new (name, rule) order by name
on conflict (application, name) do update set rule = excluded.rule, updated_at = excluded.updated_at
  where stored.rule <> excluded.rule
returning name;

-- ==== src/recurring/recurring-jobs.sql.ts ====

-- longshore-count-recurring-jobs
select count(*)::integer as jobs from longshore.recurring_job where ($1::text[] is null or name = any($1)) and ($2::text[] is null or queue = any($2))
      and ($3::text[] is null or application = any($3));

-- longshore-delete-old-missed-runs
delete from longshore.missed_run where until_at < now() - $1 * interval '1 day';

-- longshore-delete-recurring-jobs
delete from longshore.recurring_job where id = any($1::text[]) returning id;

-- longshore-insert-recurring-job
insert into longshore.recurring_job (id, name, args, version, queue, priority, max_attempts, timeout_ms, cron, time_zone, every, anchor, misfire, misfire_limit, overlap, tags, concurrency_key, concurrency_limit, concurrency_rate, uniqueness, max_ready, application, next_due_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
on conflict (id) do nothing
returning *;

-- longshore-lock-due-recurring
    select *, args::text as args_text, now() as now from longshore.recurring_job
    where next_due_at <= now() and ($2::text is null or id = $2) and not exists (
  select 1 from longshore.set_aside as aside
  where aside.role = 'recurring' and aside.key = recurring_job.id and aside.failed_at >= recurring_job.updated_at
    and (aside.retry_at > now() or aside.discarded_at is not null)
) and (overlap <> 'wait' or not exists (
  select 1 from longshore.queue cross join lateral (
    select 1 from longshore.job where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_blocked where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_scheduled where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_awaiting where queue_id = queue.id and id = recurring_job.last_job_id
  ) as unfinished
))
    order by uniqueness is not null, next_due_at limit $1
    for update skip locked;

-- longshore-lock-owned-recurring-jobs
select id, application from longshore.recurring_job where application = $1 or id = any($2::text[])
order by id for update;

-- longshore-lock-recurring-job
select *, args::text as args_text, now() as now from longshore.recurring_job where id = $1 for update;

-- longshore-move-on-recurring
update longshore.recurring_job
set next_due_at = $2, last_due_at = coalesce($3, last_due_at), last_job_id = coalesce($4, last_job_id)
where id = $1;

-- longshore-next-due-recurring
    select exists (select 1 from longshore.recurring_job where next_due_at <= now() and not exists (
  select 1 from longshore.set_aside as aside
  where aside.role = 'recurring' and aside.key = recurring_job.id and aside.failed_at >= recurring_job.updated_at
    and (aside.retry_at > now() or aside.discarded_at is not null)
)) as due,
      (select extract(epoch from least(min(next_due_at), now() + interval '1 day') - now())::float8 * 1000
        from longshore.recurring_job where next_due_at > now()) as next_due_in;

-- longshore-now
select now() as now;

-- longshore-pause-recurring-job
update longshore.recurring_job set paused_at = now(), paused_by = $2, pause_reason = $3, paused_until = $4, next_due_at = null
where id = $1 returning *;

-- longshore-record-missed-run
with extended as (
  update longshore.missed_run set until_at = $3::timestamptz
  where recurring_job_id = $1 and until_at = $2::timestamptz and reason = $4
  returning 1
)
insert into longshore.missed_run (recurring_job_id, from_at, until_at, reason)
select $1, $2::timestamptz, $3::timestamptz, $4 where not exists (select 1 from extended)
on conflict (recurring_job_id, from_at) do update
set until_at = greatest(missed_run.until_at, excluded.until_at), reason = excluded.reason;

-- longshore-resume-recurring-job
update longshore.recurring_job set paused_at = null, paused_by = null, pause_reason = null, paused_until = null, next_due_at = $2 where id = $1 returning *;

-- longshore-select-backlog-for-recurring
select coalesce(sum(jobs), 0)::float8 as jobs from longshore.job_count
where queue_id = (select id from longshore.queue where name = $1) and state = 'enqueued';

-- longshore-select-busy-recurring
select id from longshore.recurring_job where id = any($1::text[]) and exists (
  select 1 from longshore.queue cross join lateral (
    select 1 from longshore.job where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_blocked where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_scheduled where queue_id = queue.id and id = recurring_job.last_job_id
      union all select 1 from longshore.job_awaiting where queue_id = queue.id and id = recurring_job.last_job_id
  ) as unfinished
);

-- longshore-select-missed-runs
select missed.recurring_job_id as "recurringJobId", missed.from_at as "from", missed.until_at as "until", missed.reason
from unnest($1::text[]) as wanted (id) cross join lateral (
  select * from longshore.missed_run where recurring_job_id = wanted.id order by from_at desc limit $2
) as missed
order by missed.from_at desc, missed.recurring_job_id;

-- longshore-select-recurring-args
select args::text as args from longshore.recurring_job where id = $1;

-- longshore-select-recurring-job
select *, args::text as args_text, now() as now from longshore.recurring_job where id = $1;

-- longshore-select-recurring-jobs
select * from longshore.recurring_job where ($1::text[] is null or name = any($1)) and ($2::text[] is null or queue = any($2))
  and ($3::text[] is null or application = any($3))
  and ($4::text is null or id collate "und-x-icu" > $4)
order by id collate "und-x-icu" limit $5 offset $6;

-- longshore-select-recurring-jobs-descending
select * from longshore.recurring_job where ($1::text[] is null or name = any($1)) and ($2::text[] is null or queue = any($2))
  and ($3::text[] is null or application = any($3))
  and ($4::text is null or id collate "und-x-icu" < $4)
order by id collate "und-x-icu" desc limit $5 offset $6;

-- longshore-upsert-recurring-job
insert into longshore.recurring_job as old (id, name, args, version, queue, priority, max_attempts, timeout_ms, cron, time_zone, every, anchor, misfire, misfire_limit, overlap, tags, concurrency_key, concurrency_limit, concurrency_rate, uniqueness, max_ready, application, next_due_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
on conflict (id) do update set (name, args, version, queue, priority, max_attempts, timeout_ms, cron, time_zone, every, anchor, misfire, misfire_limit, overlap, tags, concurrency_key, concurrency_limit, concurrency_rate, uniqueness, max_ready, updated_at, next_due_at) = (
  select excluded.name, excluded.args, excluded.version, excluded.queue, excluded.priority, excluded.max_attempts, excluded.timeout_ms, excluded.cron, excluded.time_zone, excluded.every, excluded.anchor, excluded.misfire, excluded.misfire_limit, excluded.overlap, excluded.tags, excluded.concurrency_key, excluded.concurrency_limit, excluded.concurrency_rate, excluded.uniqueness, excluded.max_ready, now(),
    case
      when old.paused_at is not null or (old.cron, old.time_zone, old.every, old.anchor)
        is not distinct from (excluded.cron, excluded.time_zone, excluded.every, excluded.anchor) then old.next_due_at
      else excluded.next_due_at
    end
)
where old.application is not distinct from excluded.application
  and (old.name, old.args, old.version, old.queue, old.priority, old.max_attempts, old.timeout_ms, old.cron, old.time_zone, old.every, old.anchor, old.misfire, old.misfire_limit, old.overlap, old.tags, old.concurrency_key, old.concurrency_limit, old.concurrency_rate, old.uniqueness, old.max_ready) is distinct from (excluded.name, excluded.args, excluded.version, excluded.queue, excluded.priority, excluded.max_attempts, excluded.timeout_ms, excluded.cron, excluded.time_zone, excluded.every, excluded.anchor, excluded.misfire, excluded.misfire_limit, excluded.overlap, excluded.tags, excluded.concurrency_key, excluded.concurrency_limit, excluded.concurrency_rate, excluded.uniqueness, excluded.max_ready)
returning *;

-- ==== src/servers/servers.sql.ts ====

-- longshore-beat
with free as materialized (
  select id from longshore.server where id = $1 for no key update skip locked
),
beaten as (
  update longshore.server set heartbeat_at = now(), processing = $2, state = $3, clock_ahead_ms = coalesce($4, clock_ahead_ms)
  from free where server.id = free.id
  returning server.id
)
select exists (select 1 from beaten) as sent, requested, extract(epoch from clock_timestamp()) * 1000 as now
from longshore.server where id = $1;

-- longshore-delete-server
delete from longshore.server where id = $1;

-- longshore-end-transactions
select pg_terminate_backend(pid, 1000) from pg_stat_activity
where application_name like 'longshore for %' and datname = current_database() and usename = current_user
  and application_name not in (
    select 'longshore for ' || id from longshore.server where id not in (
  select id from longshore.server
  where greatest(heartbeat_at, pg_postmaster_start_time()) < now() - timeout_ms * interval '1 millisecond')
  );

-- longshore-insert-server
insert into longshore.server (id, host, pid, queues, concurrency, timeout_ms, job_names, queue_weights)
values ($1, $2, $3, $4, $5, $6, $7, $8);

-- longshore-lock-server
select server.*, version from longshore.server left join longshore.server_version on server_id = id
where id = $1 for update of server;

-- longshore-request-of-server
update longshore.server set requested = $2 where id = $1;

-- longshore-select-lost-servers
select id, host, pid, processing, heartbeat_at as "heartbeatAt", lost_at as "lostAt" from longshore.lost_server
where lost_at > now() - interval '1 day' order by lost_at desc, id desc limit 100;

-- longshore-select-servers
select server.*, version from longshore.server left join longshore.server_version on server_id = id order by id;

-- ==== src/statistics/error-groups.sql.ts ====

-- longshore-delete-old-first-failures
delete from longshore.first_failure as old
where last_at < now() - $1::integer * interval '1 day'
  or (name, kind) in (select name, kind from longshore.first_failure order by last_at desc offset $2::integer);

-- longshore-select-first-failures
select wanted.name, wanted.fingerprint, known.first_at
from unnest($1::text[], $2::text[]) as wanted (name, fingerprint)
join longshore.first_failure as known
  on known.name = wanted.name and known.kind = hashtextextended(wanted.fingerprint, 0);

-- longshore-select-retrying
select id, name, coalesce((past_attempts -> -1 -> 'error') ->> 'name', '') as error_name, left((past_attempts -> -1 -> 'error') ->> 'message', 1000) as message,
  retried_at as at
from longshore.job_scheduled
where retried_at >= now() - $1::float8 * interval '1 millisecond' and (past_attempts -> -1 -> 'error') ->> 'message' is not null
order by retried_at desc limit $2;

-- ==== src/statistics/statistics.ts ====

-- longshore-delete-old-throughput
delete from longshore.throughput
where at < now() - case when queue_id = 0 then $1::float8 else $2::float8 end * interval '1 millisecond';

-- longshore-select-throughput
select floor(extract(epoch from at) * 1000 / $3::bigint) * $3::bigint as at, sum(done) as done, sum(failed) as failed
from (
  select at, done, failed from longshore.throughput
  where queue_id = $1::integer and at >= to_timestamp($2::float8 / 1000)
  union all
  select at, case when state = 'done' then jobs else 0 end, case when state = 'failed' then jobs else 0 end
  from longshore.job_count
  where at >= to_timestamp($2::float8 / 1000) and jobs > 0 and state in ('done', 'failed')
    and ($1 = 0 or queue_id = $1)
) as ended
group by 1;

-- longshore-select-throughput-by-queue
select queue_id, extract(epoch from bucket) * 1000 as at, sum(done) as done, sum(failed) as failed
from (
  select queue_id, date_bin($3::float8 * interval '1 millisecond', at, 'epoch') as bucket, done, failed
  from longshore.throughput
  where queue_id = any ($1::integer[]) and at >= to_timestamp($2::float8 / 1000)
  union all
  select queue_id, date_bin($3::float8 * interval '1 millisecond', at, 'epoch'),
    case when state = 'done' then jobs else 0 end, case when state = 'failed' then jobs else 0 end
  from longshore.job_count
  where queue_id = any ($1) and at >= to_timestamp($2::float8 / 1000) and jobs > 0 and state in ('done', 'failed')
) as ended
group by queue_id, bucket;

-- ==== src/statistics/timings.sql.ts ====

-- longshore-add-timed-names
with known as (
  update longshore.timed_name set seen_at = now() where name = any ($1::text[]) returning name
),
added as (
  insert into longshore.timed_name (name)
  select wanted.name from unnest($1) as wanted (name)
  where not exists (select 1 from longshore.timed_name where name = wanted.name)
  limit greatest(0, $2::integer - (select count(*) from longshore.timed_name))
  on conflict (name) do nothing
  returning name
)
select name from known union all select name from added;

-- longshore-add-timings
with advanced as (
  insert into longshore.timing_writer as last (id, batch) values ($1, $2::integer)
  on conflict (id) do update set batch = excluded.batch, written_at = now() where last.batch < excluded.batch
  returning 1
)
insert into longshore.timing as stored
  (queue_id, name, seconds, at, done, failed, retried, waiting, ready, running, waited_ms, ready_ms, ran_ms)
select queue_id, name, seconds, to_timestamp(ms / 1000), done, failed, retried, waiting::integer[], ready::integer[],
  running::integer[], waited_ms, ready_ms, ran_ms
from unnest($3::integer[], $4::text[], $5::smallint[], $6::float8[], $7::integer[], $8::integer[], $9::integer[], $10::text[],
  $11::text[], $12::text[], $13::float8[], $14::float8[], $15::float8[])
  as recorded (queue_id, name, seconds, ms, done, failed, retried, waiting, ready, running, waited_ms, ready_ms, ran_ms)
where exists (select 1 from advanced)
on conflict (queue_id, name, seconds, at) do update set
  done = stored.done + excluded.done,
  failed = stored.failed + excluded.failed,
  retried = stored.retried + excluded.retried,
  waiting = longshore.add_histograms(stored.waiting, excluded.waiting),
  ready = longshore.add_histograms(stored.ready, excluded.ready),
  running = longshore.add_histograms(stored.running, excluded.running),
  waited_ms = stored.waited_ms + excluded.waited_ms,
  ready_ms = stored.ready_ms + excluded.ready_ms,
  ran_ms = stored.ran_ms + excluded.ran_ms;

-- longshore-delete-old-timings
with forgotten as (
  delete from longshore.timed_name where seen_at < now() - $2::float8 * interval '1 millisecond'
),
ended as (
  delete from longshore.timing_writer where written_at < now() - interval '1 day'
)
delete from longshore.timing
where at < now() - case when seconds = 60 then $1::float8 else $2::float8 end * interval '1 millisecond';

-- longshore-measure-backlog
with enqueued as materialized (
  select queue_id, sum(jobs)::bigint as jobs from longshore.job_count where state = 'enqueued' and queue_id > 0
  group by queue_id having sum(jobs) > 0
),
first as (
  insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
  select 0, '', 60, date_bin('1 minute', now(), 'epoch'), coalesce((select sum(jobs) from enqueued), 0)
  on conflict (queue_id, name, seconds, at) do update set backlog = excluded.backlog where stored.backlog is null
  returning stored.backlog
),
others as (
  insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
  select queue_id, '', seconds, date_bin(seconds * interval '1 second', now(), 'epoch'), jobs
  from (
    select 0 as queue_id, 3600 as seconds, backlog as jobs from first
    union all select queue_id, seconds, jobs from enqueued, (values (60), (3600)) as resolution (seconds)
  ) as measured
  where exists (select 1 from first)
  order by queue_id, seconds
  on conflict (queue_id, name, seconds, at) do update set backlog = greatest(stored.backlog, excluded.backlog)
)
select backlog from first;

-- longshore-measure-names
with found as materialized (
  select queue_id, name, ceil(count(*) * 100 / $1::float8)::bigint as jobs
  from (
    select queue_id, name from longshore.job tablesample system ($1::real) where server_id is null and queue_id > 0
    union all
    select queue_id, name from longshore.job_blocked tablesample system ($1::real) where queue_id > 0
  ) as enqueued
  where name in (select name from longshore.timed_name)
  group by queue_id, name
)
insert into longshore.timing as stored (queue_id, name, seconds, at, backlog)
select queue_id, name, seconds, date_bin(seconds * interval '1 second', now(), 'epoch'), jobs
from (
  select queue_id, name, jobs from found
  union all select 0, name, sum(jobs)::bigint from found group by name
) as measured, (values (60), (3600)) as resolution (seconds)
order by queue_id, name, seconds
on conflict (queue_id, name, seconds, at) do update set backlog = greatest(stored.backlog, excluded.backlog);

-- longshore-select-histories
select extract(epoch from at)::float8 * 1000 as at, name, done, failed, retried, waiting::text, ready::text, running::text,
  waited_ms, ready_ms, ran_ms, backlog, seconds from longshore.timing
where queue_id = $1 and name = any ($2::text[]) and seconds = 3600 and at >= to_timestamp($3::float8 / 1000)
  and at < to_timestamp($4::float8 / 1000) and (done + failed + retried > 0 or waiting <> '{}')
union all
select extract(epoch from at)::float8 * 1000 as at, name, done, failed, retried, waiting::text, ready::text, running::text,
  waited_ms, ready_ms, ran_ms, backlog, seconds from longshore.timing
where queue_id = $1 and name = any ($2::text[]) and seconds = 60 and at >= to_timestamp($4::float8 / 1000)
  and (done + failed + retried > 0 or waiting <> '{}')
order by at;

-- longshore-select-measured
select extract(epoch from at)::float8 * 1000 as at from longshore.timing
where queue_id = 0 and name = '' and seconds = $1 and at >= to_timestamp($2::float8 / 1000)
  and at < to_timestamp($3::float8 / 1000) and backlog is not null;

-- longshore-select-name-timings
with busiest as materialized (
  select name from longshore.timing
  where queue_id = $1 and seconds = $2 and at >= to_timestamp($3::float8 / 1000) and name <> ''
  group by name having sum(done + failed + retried) > 0 or max(cardinality(waiting)) > 0
  order by sum(done + failed + retried) desc, name limit $4
)
select extract(epoch from at)::float8 * 1000 as at, name, done, failed, retried, waiting::text, ready::text, running::text,
  waited_ms, ready_ms, ran_ms, backlog from longshore.timing
where queue_id = $1 and name = any (array(select name from busiest)) and seconds = $2
  and at >= to_timestamp($3::float8 / 1000);

-- longshore-select-ready-pages
select ((pg_relation_size('longshore.job') + pg_relation_size('longshore.job_blocked'))
  / current_setting('block_size')::integer)::integer as pages;

-- longshore-select-timings
select extract(epoch from at)::float8 * 1000 as at, name, done, failed, retried, waiting::text, ready::text, running::text,
  waited_ms, ready_ms, ran_ms, backlog from longshore.timing
where queue_id = $1 and name = $2 and seconds = $3 and at >= to_timestamp($4::float8 / 1000)
  and at < to_timestamp($5::float8 / 1000);

-- ==== src/steps/steps.sql.ts ====

-- longshore-delete-steps
delete from longshore.job_step where queue_id = $1 and job_id = $2 and name = any($3::text[]);

-- longshore-lock-steps-from
select name from longshore.job_step
where queue_id = $1 and job_id = $2 and position >= (
  select position from longshore.job_step where queue_id = $1 and job_id = $2 and name = $3
)
order by position, name for update;

-- longshore-read-steps
select job_id, row_to_json(step) as step, null::json as signal, position as place, null::timestamptz as arrived, name as number
from longshore.job_step as step where queue_id = $1 and job_id = any($2::uuid[])
union all
select job_id, null, row_to_json(signal), 0, at, id
from longshore.job_signal as signal where queue_id = $1 and job_id = any($2::uuid[])
order by place, arrived, number;

-- longshore-record-steps
insert into longshore.job_step as stored (queue_id, job_id, job_attempt, server_id, name, kind, state, position, result, error, is_remembered, attempts, until, signals, child_id, input, started_at, finished_at)
select job.queue_id, job.id, job.attempt, job.server_id, name, kind, state, position, result, error, is_remembered, attempts, until, signals, child_id, input, started_at, finished_at
from (
  select * from unnest($2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::jsonb[], $10::jsonb[], $11::boolean[], $12::integer[], $13::timestamptz[], $14::integer[], $15::uuid[], $16::text[], $17::timestamptz[], $18::timestamptz[]) as given (step_job_id, step_server_id, step_attempt, name, kind, state, position, result, error, is_remembered, attempts, until, signals, child_id, input, started_at, finished_at)
  order by step_job_id
) as step
cross join lateral (
  select queue_id, id, attempt, server_id from longshore.job
  where queue_id = $1 and id = step_job_id and server_id = step_server_id and attempt = step_attempt for share
) as job
on conflict (queue_id, job_id, name) do update set job_attempt = excluded.job_attempt, server_id = excluded.server_id,
  kind = excluded.kind, state = excluded.state, position = excluded.position, result = excluded.result, error = excluded.error, is_remembered = excluded.is_remembered, attempts = excluded.attempts, until = excluded.until, signals = excluded.signals, child_id = excluded.child_id, input = excluded.input, started_at = excluded.started_at, finished_at = excluded.finished_at
returning job_id, job_attempt as attempt, server_id;

-- longshore-store-signal
select longshore.store_signal($1::integer, $2::uuid, $3::text, $4::text, $5::jsonb, $6::text) as stored;

-- longshore-sweep-job_signal
with seen as materialized (
  select distinct queue_id, job_id from longshore.job_signal
  where (queue_id, job_id) > ($1::integer, $2::uuid) order by queue_id, job_id limit $3
),
gone as materialized (
  select * from seen where not exists (
    select 1 from longshore.job as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_blocked as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_scheduled as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_awaiting as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_history as job where job.queue_id = seen.queue_id and job.id = seen.job_id
  )
),
deleted as (
  delete from longshore.job_signal as stored using gone
  where stored.queue_id = gone.queue_id and stored.job_id = gone.job_id
)
select queue_id, job_id, job_id in (select job_id from gone) as gone from seen order by queue_id, job_id;

-- longshore-sweep-job_step
with seen as materialized (
  select distinct queue_id, job_id from longshore.job_step
  where (queue_id, job_id) > ($1::integer, $2::uuid) order by queue_id, job_id limit $3
),
gone as materialized (
  select * from seen where not exists (
    select 1 from longshore.job as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_blocked as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_scheduled as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_awaiting as job where job.queue_id = seen.queue_id and job.id = seen.job_id
    union all select 1 from longshore.job_history as job where job.queue_id = seen.queue_id and job.id = seen.job_id
  )
),
deleted as (
  delete from longshore.job_step as stored using gone
  where stored.queue_id = gone.queue_id and stored.job_id = gone.job_id
)
select queue_id, job_id, job_id in (select job_id from gone) as gone from seen order by queue_id, job_id;
