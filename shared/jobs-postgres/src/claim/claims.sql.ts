import type { JsonValue } from '@longshore/jobs';
import type { JobMeta } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';
import { isPaused, pausedTypes } from '../queues/pause.sql.js';

/** A claimed job. If nothing was claimed, there is a single row without a job. */
export interface ClaimedRow {
  /**
   * Whether the server is registered. {@link claimReady} leaves this null for claimed jobs, because only registered
   * servers can claim.
   */
  alive: boolean | null;
  id: string;
  seq: string;
  priority: number;
  attempt: number;
  max_attempts: number;
  name: string;
  args: JsonValue;
  /**
   * When the job was created, in milliseconds since 1970, including fractions. A number is faster to format and parse
   * than a timestamp.
   */
  created_ms: number;
  /** When the job became ready, in the same unit as `created_ms`; null if the job was ready on creation. */
  later_ready_ms: number | null;
  /** When the job was due, in the same unit; null if it became ready at that moment. */
  earlier_due_ms: number | null;
  meta: JobMeta | null;
  /**
   * Whether the queue has limits. {@link claimReady} leaves this null for claimed jobs, because it only claims from
   * queues without limits.
   */
  limited: boolean | null;
  /** Whether the queue is paused. {@link claimReady} leaves this null for claimed jobs. */
  paused: boolean | null;
}

/**
 * SQL condition: Postgres has recovered from a crash within the last ten minutes. Crash recovery resets the cumulative
 * statistics after Postgres has started. In a new cluster, the statistics were reset before the start.
 */
const hasCrashed = `(select stats_reset from pg_stat_get_wal()) > greatest(pg_postmaster_start_time(), now() - interval '10 minutes')`;

/**
 * Returns SQL for the time at which a claimed job starts. It is not before the creation of the job, even if the database's
 * clock was set back by a little meanwhile, as after a failover. A time of creation that is far ahead is wrong, and is not
 * followed.
 */
export function startedAt(now: string): string {
  return `case when job.created_at between ${now} and ${now} + interval '1 minute' then job.created_at else ${now} end`;
}

/**
 * SQL expression for the ids of the queue's jobs that are to be cancelled. A ready job is among them if the request came
 * while its attempt went back to the queue. Such a job is cancelled soon, and must not start before that. The ids are read
 * once per claim; usually, there are none.
 */
const toCancel = 'array(select job_id from longshore.job_cancellation where queue_id = $1)';

// On Citus, a claim runs on the queue's node, with separate tasks for the jobs and the counters. Rows are found by id
// instead of `ctid`.

/**
 * The first CTEs of a claim, which run on the coordinator. They lock the server's row until the claim has been
 * committed on the queue's node. They also compute the times, because statements for nodes can contain only constants.
 */
const coordinatorCtes = `
    names as materialized (
      select job_names as handled, array(${pausedTypes}) as paused from longshore.server where id = $2 for key share
    ),
    clock as materialized (
      select clock_timestamp() as at, clock_timestamp() + $4::float8 * interval '1 millisecond' as until
    )`;

/**
 * Returns the CTE that claims jobs. Citus runs the CTE as a single task on the queue's node. A CTE that locks rows can
 * read other CTEs only through nested CTEs (here `handler`, `started` and `allowed`).
 *
 * @param limit SQL expression for the maximum number of jobs; may refer to `allowed`
 * @param condition an additional SQL condition on the jobs
 * @param allowed the nested CTE `allowed`, followed by a comma; required if `limit` refers to it
 */
const claimed = (limit: string, condition: string, allowed = ''): string => `
    claimed as (
      with handler as materialized (select handled, paused from names),
      started as materialized (select at, until from clock),${allowed}
      candidate as materialized (
        select next.id
        from unnest($5::smallint[], $6::bigint[], $7::bigint[]) as range (priority, after, up_to)
        cross join lateral (
          select job.id from longshore.job
          where job.queue_id = $1 and job.priority = range.priority and job.seq > range.after and job.seq <= range.up_to
            and job.server_id is null and exists (select 1 from handler)
            and coalesce(job.name = any ((select handled from handler)::text[]), true)
            and job.name <> all ((select paused from handler)::text[]) and not exists (
              select 1 from longshore.job_cancellation as request where request.queue_id = $1 and request.job_id = job.id
            ) and ${condition}
          order by job.seq limit ${limit}
          for update of job skip locked
        ) as next
        limit ${limit}
      )
      update longshore.job
      set server_id = $2, attempt = job.attempt + 1, started_at = ${startedAt('started.at')}, lease_until = started.until
      from candidate, started
      where job.queue_id = $1 and job.id = candidate.id
      returning job.id, job.seq, job.priority, job.attempt, job.max_attempts, job.name, job.args, job.created_at, job.ready_at,
        job.due_at, job.meta
    )`;

const jobOf = `claimed.id, claimed.seq, claimed.priority, claimed.attempt, claimed.max_attempts, claimed.name, claimed.args,
      date_part('epoch', claimed.created_at) * 1000 as created_ms,
      date_part('epoch', nullif(claimed.ready_at, claimed.created_at)) * 1000 as later_ready_ms,
      date_part('epoch', claimed.due_at) * 1000 as earlier_due_ms, claimed.meta`;

/**
 * CTEs that update the counters for the claimed jobs. They read the jobs from the table `job`, so that the whole insert
 * runs on the queue's node. Otherwise, Citus would copy the counts to the node and use two-phase commit.
 */
const counted = `
    ids as materialized (select array_agg(id) as ids from claimed),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, change.state, change.sign * count(*)
      from longshore.job, (values ('enqueued'::longshore.job_state, -1), ('processing', 1)) as change (state, sign)
      where queue_id = $1 and id = any ((select ids from ids)::uuid[])
      group by queue_id, change.state, change.sign
    )`;

/**
 * Claims ready jobs of a queue. Claims nothing if the queue is paused or has limits.
 *
 * $1 queue, $2 server, $3 limit, $4 lease in ms; parallel arrays of the ranges to scan, in queue order: $5 priorities,
 * $6 starts (exclusive), $7 ends (inclusive).
 *
 * The claim locks the server's row, so that the rescuer cannot delete it during the claim. If the claim commits first,
 * the rescuer also releases the claimed jobs. If the row has already been deleted, the claim claims nothing. KEY SHARE
 * does not block heartbeats. A row lock is a write, so it is only taken if there is something to claim.
 *
 * The update finds the locked rows by physical position (`ctid`), which is faster than by id. The position of a locked
 * row cannot change.
 *
 * `started_at` is set to {@link startedAt} of `clock_timestamp()`. With `now()`, a job could start before it was created, because the claim's
 * snapshot can include a job that was committed after the claim's transaction had begun.
 *
 * Only jobs that the server has registered handlers for are claimed, or all jobs if it registered no names. The others
 * stay in the queue for a server that can run them, for example while two versions of an application run side by side.
 * Jobs of paused types are skipped in the same way.
 *
 * The commit does not wait for the disk, unless a job is on its last attempt or Postgres has crashed recently. If
 * Postgres crashes within the next half second, the jobs are ready again, and that attempt does not count
 * (docs/adr/026). Because commits wait after a crash, a job that crashes Postgres uses up its attempts.
 *
 * The ranges usually begin just after the last claimed job. Otherwise, claims would read the index entries of finished
 * jobs while a long transaction elsewhere prevents vacuum from removing them (docs/adr/001).
 */
export const claimReady = prepared(
  'longshore-claim-ready',
  `
    with names as materialized (
      select job_names as handled, array(${pausedTypes}) as paused, ${toCancel} as to_cancel
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
        where id = $1 and (${isPaused} or concurrency_limit is not null or rate_limit is not null))
        order by job.seq limit $3
        for update skip locked
      ) as next
      limit $3),
    alive as materialized (
      select id from longshore.server where id = $2 and exists (select 1 from candidate) for key share
    ),
    claimed as (
      update longshore.job
      set server_id = $2, attempt = job.attempt + 1, started_at = ${startedAt('clock_timestamp()')},
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
      case when claimed.id is null then exists (select 1 from longshore.queue where id = $1 and ${isPaused}) end as paused
    from (values (1)) as one left join claimed on true
    where (select count(set_config('synchronous_commit', 'off', true)) from total where not (has_last_attempt or ${hasCrashed})) >= 0`,
  `
    with ${coordinatorCtes}, ${claimed(
      '$3',
      `not exists (
              select 1 from longshore.queue
              where id = $1 and (${isPaused} or concurrency_limit is not null or rate_limit is not null))`,
    )}, ${counted}
    select ${jobOf}, case when claimed.id is null then exists (select 1 from names) end as alive,
      case when claimed.id is null then exists (
        select 1 from longshore.queue where id = $1 and (concurrency_limit is not null or rate_limit is not null)
      ) end as limited,
      case when claimed.id is null then exists (select 1 from longshore.queue where id = $1 and ${isPaused}) end as paused
    from (values (1)) as one left join claimed on true`,
);

export interface LimitedClaimedRow extends ClaimedRow {
  /** How many jobs the claim may take, given the request and the limits; 0 if the queue is paused. */
  room: number;
  /** Milliseconds until the bucket holds a token; 0 if it already does, `null` if the queue has no rate limit. */
  token_in: number | null;
}

/**
 * $1 queue. Locks the queue's token bucket until the transaction ends. Claims from a queue with limits therefore run
 * one after another, and each sees the previous claims.
 */
export const lockBucket = prepared(
  'longshore-lock-bucket',
  `select 1 from longshore.queue_bucket where queue_id = $1 for update`,
);

/**
 * $1 queue, $2 tokens. Creates and locks the queue's token bucket. A queue has no bucket if the limits were set with
 * SQL instead of `limitQueue`.
 */
export const makeBucket = prepared(
  'longshore-make-bucket',
  `
    insert into longshore.queue_bucket as bucket (queue_id, tokens) values ($1, $2)
    on conflict (queue_id) do update set tokens = bucket.tokens`,
);

/**
 * Claims ready jobs of a queue within the concurrency and rate limits. Takes the parameters of {@link claimReady}. Must
 * run after {@link lockBucket}, in the same transaction but as a separate statement, so that the snapshot includes
 * earlier claims. A missing limit is null, and `least` ignores nulls.
 */
export const claimWithinLimits = prepared(
  'longshore-claim-within-limits',
  `
    with setting as materialized (
      select not ${isPaused} as open, concurrency_limit, rate_limit, refill, clock.now,
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
      select job_names as handled, array(${pausedTypes}) as paused, ${toCancel} as to_cancel
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
      set server_id = $2, attempt = job.attempt + 1, started_at = ${startedAt('clock_timestamp()')},
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
    from setting left join claimed on true`,
  `
    with ${coordinatorCtes},
    bucket as materialized (select tokens, refilled_at from longshore.queue_bucket where queue_id = $1),
    running as materialized (
      select coalesce(sum(jobs), 0)::bigint as jobs from longshore.job_count where queue_id = $1 and state = 'processing'
    ),
    setting as materialized (
      select not ${isPaused} as open, concurrency_limit, rate_limit, refill, clock.at as now,
        least((rate_limit -> 'burst')::float8, bucket.tokens + refill *
          greatest(0, extract(epoch from clock.at - bucket.refilled_at)::float8 * 1000)) as tokens
      from longshore.queue
      cross join clock
      left join bucket on true
      cross join lateral (select (rate_limit -> 'jobs')::float8 / (rate_limit -> 'periodMs')::float8 as refill) as rate
      where queue.id = $1
    ),
    room as materialized (
      select greatest(0, least($3::bigint, floor(tokens + 1e-6)::bigint, concurrency_limit - (select jobs from running))) as jobs
      from setting where open
    ), ${claimed(
      'coalesce((select jobs from allowed), 0)',
      'true',
      `
      allowed as materialized (select jobs from room),`,
    )}, ${counted},
    left_over as materialized (
      select setting.tokens - (select count(*) from claimed) as tokens, setting.now as at
      from setting where setting.tokens is not null and exists (select 1 from claimed)
    ),
    spent as (
      update longshore.queue_bucket as bucket set tokens = left_over.tokens, refilled_at = left_over.at
      from left_over where bucket.queue_id = $1
    )
    select exists (select 1 from names) as alive, ${jobOf},
      concurrency_limit is not null or rate_limit is not null as limited, not open as paused,
      coalesce((select jobs from room), 0)::integer as room,
      greatest(0, 1 - tokens + (select count(*) from claimed)) / refill as token_in
    from setting left join claimed on true`,
);
