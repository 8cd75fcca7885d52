import {
  beginPause,
  endPause,
  holdsJobs,
  isPaused,
  isServed,
  isShown,
  pauseColumns,
} from '../queues/pause.sql.js';
import { prepared } from '../connection/statement.js';

/**
 * SQL condition: the queue's settings still match those that the caller expects. $2 whether to compare them; if false,
 * the condition is true. $3 whether a pause is expected, $4 expected concurrency limit, $5 expected rate limit.
 */
const matchesExpectedSettings = `(not $2::boolean or (
      ${isPaused} = $3::boolean
      and queue.concurrency_limit is not distinct from $4::integer
      and queue.rate_limit is not distinct from $5::jsonb))`;

/** SQL assignments that end a queue's retirement, for statements that change the queue's settings. */
export const endRetirement = 'retired_at = null, idle_since = null';

/** $1 name. Lets only one transaction at a time create a queue with this name. */
export const lockNewQueue = prepared(
  'longshore-lock-new-queue',
  `select pg_advisory_xact_lock(longshore.lock_key('new queue ' || $1::text))::text`,
);

/** $1 name. Returns a row if there is such a queue. */
export const selectShown = prepared(
  'longshore-select-shown-queue',
  `select id from longshore.queue where name = $1 and ${isShown}`,
);

/**
 * $1 queue, $2 to $5 expected settings. Locks the queue until the transaction ends and returns its settings. Returns no
 * row if the settings do not match the expected ones.
 */
export const lockQueue = prepared(
  'longshore-lock-queue',
  `
    select ${pauseColumns}, concurrency_limit, rate_limit, in_code from longshore.queue
    where id = $1 and ${matchesExpectedSettings}
    for update`,
);

/** $1 queue; $2 to $4 as in {@link beginPause}. */
export const pauseQueue = prepared(
  'longshore-pause-queue',
  `update longshore.queue set ${beginPause}, ${endRetirement} where id = $1`,
);

/** $1 queue. Ends the queue's pause, and its retirement if it is retired. */
export const resumeQueue = prepared(
  'longshore-resume-queue',
  `update longshore.queue set ${endPause}, ${endRetirement} where id = $1`,
);

/** $1 application, $2 names. The named queues, and those with settings in the code of the application. */
export const selectInCode = prepared(
  'longshore-select-queues-in-code',
  `
    select name, in_code from longshore.queue
    where in_code is not null and (name = any($2::text[]) or in_code ->> 'application' = $1)`,
);

/** $1 queue, $2 settings in code or null. Ends the queue's retirement. */
export const setInCode = prepared(
  'longshore-set-queue-in-code',
  `update longshore.queue set in_code = $2::jsonb, ${endRetirement} where id = $1`,
);

/** CTEs, for Citus, with the queues that {@link holdsJobs} and the names of those that {@link isServed}. */
const holding = `
    holding as materialized (
      select queue_id as id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing')
      group by queue_id having sum(jobs) > 0
    ),
    served as materialized (select unnest(queues) as name from longshore.server)`;

export interface RetiredRow {
  holds_jobs: boolean;
  served: boolean;
  retired: boolean;
}

/**
 * $1 name, $2 to $5 expected settings. Retires a queue if it has neither unfinished jobs nor consumers and its settings
 * match the expected ones. Returns no row if there is no such queue.
 */
export const retireQueue = prepared(
  'longshore-retire-queue',
  `
    with found as materialized (
      select id, ${holdsJobs} as holds_jobs, ${isServed} as served
      from longshore.queue where name = $1 and ${isShown}
    ),
    retired as (
      update longshore.queue
      set retired_at = now(), idle_since = null, ${endPause}, concurrency_limit = null, rate_limit = null, in_code = null
      from found
      where queue.id = found.id and not found.holds_jobs and not found.served and ${matchesExpectedSettings}
      returning queue.id
    )
    select holds_jobs, served, exists (select 1 from retired) as retired from found`,
  `
    with ${holding},
    setting as materialized (
      select id, name, retired_at, paused_at, paused_until, concurrency_limit, rate_limit, ${isPaused} as paused
      from longshore.queue where name = $1
    ),
    found as materialized (
      select id, id in (select id from holding) as holds_jobs, name in (select name from served) as served, paused_at, paused_until,
        not $2::boolean or (paused = $3::boolean and concurrency_limit is not distinct from $4::integer
          and rate_limit is not distinct from $5::jsonb) as as_seen, concurrency_limit, rate_limit
      from setting where retired_at is null or id in (select id from holding) or name in (select name from served)
    ),
    leaving as materialized (select * from found where not holds_jobs and not served and as_seen),
    retired as (
      update longshore.queue
      set retired_at = now(), idle_since = null, paused_at = null, paused_by = null, pause_reason = null, paused_until = null,
        concurrency_limit = null, rate_limit = null, in_code = null
      from leaving
      where queue.id = leaving.id and queue.paused_at is not distinct from leaving.paused_at
        and queue.paused_until is not distinct from leaving.paused_until
        and queue.concurrency_limit is not distinct from leaving.concurrency_limit
        and queue.rate_limit is not distinct from leaving.rate_limit
      returning queue.id
    )
    select holds_jobs, served, exists (select 1 from retired) as retired from found`,
);

/** SQL condition on a queue: it is retired, but in use again. */
export const isUsedAgain = `retired_at is not null and (${holdsJobs} or ${isServed})`;

/** Ends the retirement of queues that are in use again. */
export const returnQueues = prepared(
  'longshore-return-queues',
  `update longshore.queue set retired_at = null, idle_since = null where ${isUsedAgain}`,
  `
    with ${holding},
    in_use as materialized (
      select id from longshore.queue
      where retired_at is not null and (id in (select id from holding) or name in (select name from served))
    )
    update longshore.queue set retired_at = null, idle_since = null from in_use where queue.id = in_use.id`,
);

/** SQL condition on a queue: jobs have ended since `idle_since`, so the queue was in use between two checks. */
const hasEndedJobs = `exists (
      select 1 from longshore.throughput where throughput.queue_id = queue.id and throughput.at > queue.idle_since
    )`;

/**
 * Records when queues became idle, and retires queues that have been idle for $1 days. An idle queue is not paused, and
 * has no unfinished jobs, no consumers, no recurring jobs, no limits and no settings in code. If jobs have ended since a queue became idle,
 * its idle time starts over.
 */
export const retireIdleQueues = prepared(
  'longshore-retire-idle-queues',
  `
    with looked_at as materialized (
      select id, idle_since, paused_at is null and concurrency_limit is null and rate_limit is null and in_code is null
        and not ${holdsJobs} and not ${isServed}
        and queue.name not in (select recurring_job.queue from longshore.recurring_job)
        and not ${hasEndedJobs} as idle
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
      and (retires or due.idle <> (queue.idle_since is not null))`,
  `
    with ${holding},
    ended as materialized (select queue_id as id, max(at) as at from longshore.throughput group by queue_id),
    looked_at as materialized (
      select queue.id, queue.idle_since, queue.paused_at is null and queue.concurrency_limit is null and queue.rate_limit is null and queue.in_code is null
        and queue.id not in (select id from holding) and queue.name not in (select name from served)
        and queue.name not in (select recurring_job.queue from longshore.recurring_job)
        and not coalesce(ended.at > queue.idle_since, false) as idle
      from (select * from longshore.queue where retired_at is null) as queue left join ended on ended.id = queue.id
    ),
    due as materialized (
      select id, idle, idle_since, idle and coalesce(idle_since <= now() - $1 * interval '1 day', false) as retires
      from looked_at
    ),
    change as materialized (
      select id, idle_since, case when idle and not retires then now() end as new_idle_since, case when retires then now() end as retired_at
      from due where retires or idle <> (idle_since is not null)
    )
    update longshore.queue set idle_since = change.new_idle_since, retired_at = change.retired_at
    from change
    where queue.id = change.id and queue.retired_at is null and queue.idle_since is not distinct from change.idle_since`,
);

/**
 * $1 queue, $2 whether to set the concurrency limit, $3 its value, $4 whether to set the rate limit, $5 its value, $6
 * initial number of tokens if the queue has no token bucket yet. Sets the limits of a queue, and ends its retirement.
 */
export const limitQueue = prepared(
  'longshore-limit-queue',
  `
    with bucket as (
      insert into longshore.queue_bucket (queue_id, tokens) values ($1, $6) on conflict do nothing
    )
    update longshore.queue
    set concurrency_limit = case when $2::boolean then $3::integer else concurrency_limit end,
      rate_limit = case when $4::boolean then $5::jsonb else rate_limit end,
      ${endRetirement}
    where id = $1`,
);
