import { startedAt } from '../claim/claims.sql.js';
import { isPaused, pausedTypes } from '../queues/pause.sql.js';
import { type Forms, replacedBy } from './form.js';

/**
 * The first CTEs of a claim, which run on the coordinator. They lock the server's row until the claim has been
 * committed on the queue's node. They also compute the times, because statements for nodes can contain only constants.
 */
const known = `
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
        job.meta
    )`;

const jobOf = `claimed.id, claimed.seq, claimed.priority, claimed.attempt, claimed.max_attempts, claimed.name, claimed.args,
      date_part('epoch', claimed.created_at) * 1000 as created_ms,
      date_part('epoch', nullif(claimed.ready_at, claimed.created_at)) * 1000 as later_ready_ms, claimed.meta`;

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

const claimReady = `
    with ${known}, ${claimed(
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
    from (values (1)) as one left join claimed on true`;

const claimWithinLimits = `
    with ${known},
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
    from setting left join claimed on true`;

/**
 * Citus forms of the claim statements. Each runs on the queue's node, with separate tasks for the jobs and the
 * counters. Rows are found by id instead of `ctid`.
 */
export const claimForms: Forms = {
  'longshore-claim-ready': replacedBy(claimReady),
  'longshore-claim-within-limits': replacedBy(claimWithinLimits),
};
