import { jobColumns, metaWithDelay } from './job-columns.sql.js';
import { columns, counted, countedOnNode, newJobs, nodeKnown, onNode, selected } from './inserts.sql.js';
import { fromNow } from '../connection/database.sql.js';
import { becomeReady } from './become-ready.sql.js';
import { transitionRecorded } from './job-transitions.sql.js';
import { type Forms, prepared } from '../connection/statement.js';
import { outboxEntries } from './outbox.sql.js';

// In all statements in this file, $1 is the queue.

const awaiting = `'awaiting'::longshore.job_state`;

/**
 * Inserts jobs that wait for their parents. $2 ids, $3 arguments, $4 names, $5 priorities, $6 maximum attempts,
 * $7 metadata, $8 due times, $9 delays after the end of the last parent, in milliseconds.
 */
export const insertAwaiting = prepared(
  'longshore-insert-awaiting',
  `
    with inserted as (
      insert into longshore.job_awaiting (queue_id, id, name, priority, max_attempts, args, meta, run_at, delay_ms)
      select $1, id, name, priority, max_attempts, args, meta, run_at, delay_ms
      from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb),
        unnest($4::text[]), unnest($5::smallint[]), unnest($6::smallint[]), unnest($7::jsonb[]),
        unnest($8::timestamptz[]), unnest($9::float8[])
      ) as new (id, args, name, priority, max_attempts, meta, run_at, delay_ms)
    )${counted('awaiting')}`,
  `
    with ${nodeKnown},
    inserted as (
      insert into longshore.job_awaiting (queue_id, id, name, priority, max_attempts, args, meta, run_at, delay_ms)
      select queue_node.queue_id, ${selected}, run_at, delay_ms
      from ${onNode(`${newJobs}, unnest($8::timestamptz[]), unnest($9::float8[])`, `${columns}, run_at, delay_ms`)}
    ), ${countedOnNode('awaiting')}`,
);

/**
 * $2 ids. Locks the jobs until the transaction ends. If two parents of a job end at the same time, the second
 * transaction waits for the first and then sees that the first parent's dependency is resolved.
 */
export const lockAwaiting = prepared(
  'longshore-lock-awaiting',
  `select 1 from longshore.job_awaiting where queue_id = $1 and id = any($2::uuid[]) order by id for update`,
);

/**
 * SQL condition: the dependency is not resolved. Wrapped in `case` so that the planner uses the index on dependents
 * instead of the one on unresolved dependencies.
 */
const open = `case when job_dependency.resolved_at is null then true end`;

/** A CTE that resolves all dependencies of the jobs in the CTE `removed`. */
export const dependenciesResolved = `
    resolved as (
      update longshore.job_dependency set resolved_at = now(), marked = true
      where child_id = any (array(select id from removed)) and ${open}
    )`;

/**
 * Returns CTEs that cancel the jobs in the CTE `removed`, which must come from `job_awaiting`. Their metadata keeps the
 * delay, which applies again if a job is retried and waits for its parents.
 *
 * @param error the column of `removed` with the error to record; `null` if there is none
 */
export function awaitingCancelled(error: 'error' | null = null): string {
  const columns = error === null ? '' : `, ${error}`;
  return `
    history as (
      insert into longshore.job_history_cancelled (${jobColumns}${columns})
      select ${jobColumns.replace('meta', metaWithDelay)}${columns} from removed
    ), ${dependenciesResolved}, ${outboxEntries('removed', awaiting, `'cancelled'::longshore.job_state`)}`;
}

/** $2 ids, $3 errors to record. Cancels jobs because their parents did not end as required. */
export const cancelAwaiting = prepared(
  'longshore-cancel-awaiting',
  `
    with ended as materialized (select * from unnest($2::uuid[], $3::jsonb[]) as ended (id, error)),
    removed as (
      delete from longshore.job_awaiting using ended
      where job_awaiting.queue_id = $1 and job_awaiting.id = ended.id
      returning job_awaiting.*, ended.error
    ),
    ${awaitingCancelled('error')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from removed) as total,
        (values (${awaiting}, -1), ('cancelled', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select true as changed from removed`,
);

const released = `
    arriving as (select ${jobColumns} from removed where due is null or due <= now()), ${becomeReady('arriving', 'id')},
    waiting as (
      insert into longshore.job_scheduled (${jobColumns})
      select queue_id, id, created_at, due, priority, attempt, max_attempts, name, args, meta, past_attempts
      from removed where due > now()
      returning id
    ),
    total as (select (select count(*) from arriving) as ready, (select count(*) from waiting) as waiting),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.jobs
      from total, lateral (
        values (${awaiting}, -(ready + waiting)), ('enqueued', ready), ('scheduled', waiting)
      ) as change (state, jobs)
      where change.jobs <> 0
    )`;

export interface ReleasedRow {
  ready: number;
  /** Whether any of the jobs counted in `ready` has a concurrency key and is therefore blocked at first. */
  blocked: boolean;
  waiting: number;
}

/**
 * The CTE `removed`, which deletes the jobs whose dependencies are all resolved. On Citus, the unresolved dependencies are
 * read by a CTE of their own, because they are stored on the coordinator and the jobs on the nodes. The caller has already
 * locked the jobs, so nothing changes between the two reads.
 */
const resolvedRemoved: Forms<string> = {
  none: `removed as (
      delete from longshore.job_awaiting
      where queue_id = $1 and id = any($2::uuid[])
        and (select true from longshore.job_dependency where child_id = job_awaiting.id and ${open} limit 1) is null
      returning *, coalesce(run_at, ${fromNow('delay_ms')}) as due
    )`,
  citus: `open as materialized (
      select coalesce(array_agg(child_id), '{}') as ids from longshore.job_dependency
      where child_id = any($2::uuid[]) and case when resolved_at is null then true end
    ),
    deleted as (
      delete from longshore.job_awaiting
      where queue_id = $1 and id = any($2::uuid[]) and id <> all ((select ids from open)::uuid[])
      returning *
    ),
    removed as materialized (
      select *, coalesce(run_at, ${fromNow('delay_ms')}) as due from deleted
    )`,
};

/**
 * $2 ids. Releases the jobs whose dependencies are all resolved: makes them ready, or schedules them if they are due in
 * the future.
 */
export const releaseAwaiting = prepared(
  'longshore-release-awaiting',
  release(resolvedRemoved.none),
  release(resolvedRemoved.citus),
);

function release(removed: string): string {
  return `
    with ${removed}, ${transitionRecorded('(select * from removed where due > now()) as waiting', 'parents-ended', {})}, ${released}
    select ready::integer, waiting::integer, exists (
      select 1 from arriving where meta ? 'concurrencyKey'
    ) as blocked
    from total`;
}
