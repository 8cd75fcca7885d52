import type { Statement } from '../connection/database.js';
import { asSeen } from './job-control.sql.js';
import { holdsJobs, isServed, isShown } from '../read/shown-queues.sql.js';

export interface RetiredRow {
  holds_jobs: boolean;
  served: boolean;
  retired: boolean;
}

/** $1 name, $2 to $5 what was seen of it. No row: there is no such queue. */
export const retireQueue: Statement = {
  name: 'longshore-retire-queue',
  text: `
    with found as materialized (
      select id, ${holdsJobs} as holds_jobs, ${isServed} as served
      from longshore.queue where name = $1 and ${isShown}
    ),
    retired as (
      update longshore.queue
      set retired_at = now(), idle_since = null, paused_at = null, concurrency_limit = null, rate_limit = null
      from found
      where queue.id = found.id and not found.holds_jobs and not found.served and ${asSeen(2)}
      returning queue.id
    )
    select holds_jobs, served, exists (select from retired) as retired from found`,
};

/** Ends the retirement of queues that are in use again. */
export const returnQueues: Statement = {
  name: 'longshore-return-queues',
  text: `
    update longshore.queue set retired_at = null, idle_since = null
    where retired_at is not null and (${holdsJobs} or ${isServed})`,
};

/** Jobs that started and ended between two looks are seen by what has been counted of their ends. */
const hasEndedJobs = `exists (
      select from longshore.throughput where throughput.queue_id = queue.id and throughput.at > queue.idle_since
    )`;

/**
 * $1 days. Notes since when queues are idle, and retires those that have been so for that long. A queue that an operator has paused or
 * limited, or that a recurring job names, is not idle.
 */
export const retireIdleQueues: Statement = {
  name: 'longshore-retire-idle-queues',
  text: `
    with looked_at as materialized (
      select id, idle_since, paused_at is null and concurrency_limit is null and rate_limit is null
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
};
