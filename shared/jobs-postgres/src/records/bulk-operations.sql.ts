import {
  type BulkAction,
  type BulkOperation,
  type BulkPreview,
  type BulkRequest,
  type BulkState,
  filterTimes,
  type JobCount,
  type JobFilter,
  storableReason,
} from '@longshore/jobs/storage';
import { isObject, readTime, UnreadableTime } from '../connection/stored-value.js';
import { fromNow } from '../connection/database.sql.js';
import { prepared } from '../connection/statement.js';
import type { Place } from '../jobs/job-moves.sql.js';

/** A position in a table: live jobs are ordered by queue and id, finished ones by id. */
export interface Position {
  readonly queueId: number;
  readonly id: string;
}

/** How far a walk has progressed. */
export interface Cursor extends Position {
  readonly place: Place;
  /** Number of jobs changed since the walk last started at its first place. */
  readonly changed: number;
}

export interface BulkRow {
  id: string;
  action: BulkAction;
  filter: Record<string, unknown>;
  state: BulkState;
  cursor: Cursor | null;
  matched: string | null;
  matched_exact: boolean | null;
  seen: string;
  changed: string;
  skipped: string;
  requested_by: string | null;
  created_at: Date;
  starts_at: Date;
  /**
   * Jobs created or finished after this time are not changed. Text, because a JavaScript date would lose the
   * microseconds.
   */
  as_of: string;
  first_ids: BulkPreview['oldestSearchedIds'];
  /** Maximum number of jobs to change; `null` for no limit. */
  max_jobs: string | null;
  /** Whether to restore the dependents of retried jobs. */
  dependents: boolean;
  /** The queues in which dependents may be restored; null for all. */
  visible_queues: string[] | null;
  /** Why the jobs are changed, recorded with requests to cancel running ones; `null` if no reason was given. */
  reason: string | null;
  /** When rescheduled jobs become ready; `null` for other actions. */
  run_at: Date | null;
  /** The new name of renamed jobs; `null` for other actions. */
  to_name: string | null;
  restored: string;
  finished_at: Date | null;
  error: string | null;
}

const times: ReadonlySet<string> = new Set(filterTimes);

/**
 * Restores a filter from JSON. An invalid time becomes an {@link UnreadableTime}, and anything but an object becomes an
 * empty filter.
 */
export function readFilter(json: unknown): JobFilter {
  if (!isObject(json)) return {};
  const members = Object.entries(json).map(([name, value]) => [
    name,
    times.has(name) ? readTime(value) : value,
  ]);
  return Object.fromEntries(members) as JobFilter;
}

/**
 * Restores the filter of an operation that is about to run.
 *
 * @throws {RangeError} if part of the filter cannot be read, because the rest could match more jobs
 */
export function readFilterStrictly(json: unknown): JobFilter {
  if (!isObject(json)) throw new RangeError('The filter of the operation cannot be read');
  const filter = readFilter(json);
  for (const [name, value] of Object.entries(filter)) {
    if (value instanceof UnreadableTime)
      throw new RangeError(`The filter of the operation cannot be read: ${name} is not a valid time`);
  }
  return filter;
}

export function toBulkOperation(row: BulkRow): BulkOperation {
  return {
    id: row.id,
    action: row.action,
    filter: readFilter(row.filter),
    state: row.state,
    matched: row.matched === null ? null : { count: Number(row.matched), exact: row.matched_exact === true },
    seen: Number(row.seen),
    changed: Number(row.changed),
    restored: Number(row.restored),
    skipped: Number(row.skipped),
    requestedBy: row.requested_by,
    reason: row.reason,
    runAt: row.run_at,
    toName: row.to_name,
    createdAt: row.created_at,
    startsAt: row.starts_at,
    finishedAt: row.finished_at,
    error: row.error,
  };
}

const columns = `id, action, filter, case when state = 'running' and starts_at > now() then 'pending' else state end as state,
  cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at, starts_at,
  coalesce(as_of, created_at)::text as as_of, first_ids, max_jobs, dependents, visible_queues, reason, run_at, to_name, restored, finished_at, error`;

/**
 * $1 id, $2 action, $3 filter, $4 who requested it, $5 number of matching jobs, $6 whether that number is exact, $7
 * time (null for now): jobs created or finished later are skipped, $8 lowest id to change, by finished state, $9
 * maximum number of jobs to change, or null, $10 milliseconds until the operation starts, $11 whether to restore
 * dependents, $12 names of the queues in which to restore them, null for all, $13 the reason, $14 the new time of
 * rescheduled jobs, $15 the new name of renamed jobs.
 */
export const insertBulk = prepared(
  'longshore-insert-bulk',
  `
    insert into longshore.bulk_operation
      (id, action, filter, requested_by, matched, matched_exact, as_of, first_ids, max_jobs, starts_at, dependents, visible_queues, reason, run_at, to_name)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${fromNow('$10::float8')}, $11, $12, $13, $14, $15)
    returning ${columns}`,
);

/** Returns the parameters of {@link insertBulk}. */
export function bulkValues(
  id: string,
  {
    action,
    filter,
    matched,
    requestedBy = null,
    confirmed,
    delayMs = 0,
    dependents = false,
    visibleQueues = null,
    reason = null,
    runAt = null,
    toName = null,
  }: BulkRequest & { readonly matched: JobCount | null },
): unknown[] {
  return [
    id,
    action,
    JSON.stringify(filter),
    requestedBy,
    matched?.count,
    matched?.exact,
    confirmed?.asOf,
    confirmed?.oldestSearchedIds ?? {},
    confirmed?.count?.exact === true ? confirmed.count.count : null,
    delayMs,
    dependents,
    visibleQueues,
    storableReason(reason),
    runAt,
    toName,
  ];
}

/** $1 id. */
export const selectBulk = prepared(
  'longshore-select-bulk',
  `select ${columns} from longshore.bulk_operation where id = $1`,
);

/** $1 id. Locks the operation until the transaction ends. */
export const lockBulk = prepared(
  'longshore-lock-bulk',
  `select ${columns} from longshore.bulk_operation where id = $1 for update`,
);

/** One statement per order: $1 limit, $2 number to skip, $3 id to continue after, or null. */
export const selectBulks = {
  newest: prepared(
    'longshore-select-newest-bulks',
    `
      select ${columns} from longshore.bulk_operation
      where id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by id desc limit $1 offset $2`,
  ),
  oldest: prepared(
    'longshore-select-oldest-bulks',
    `
      select ${columns} from longshore.bulk_operation
      where id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
      order by id limit $1 offset $2`,
  ),
};

/** $1 limit. */
export const countSomeBulks = prepared(
  'longshore-count-some-bulks',
  `select count(*)::integer as counted from (select 1 from longshore.bulk_operation limit $1) as some_of_them`,
);

/** $1 limit. Returns the oldest running operations that are past their start time. Usually, there are none. */
export const selectRunningBulks = prepared(
  'longshore-select-running-bulks',
  `select ${columns} from longshore.bulk_operation
    where state = 'running' and starts_at <= now() order by id limit $1`,
);

/**
 * $1 id. Locks the operation until the transaction ends. Returns no row if it is not running or another server has
 * locked it.
 */
export const claimBulk = prepared(
  'longshore-take-bulk',
  `
    select ${columns} from longshore.bulk_operation where id = $1 and state = 'running'
    for update skip locked`,
);

/** $1 operation, $2 id to continue after, or null, $3 limit. Returns the ids of changed jobs. */
export const selectChanged = {
  newest: prepared(
    'longshore-select-newest-changed',
    `
    select job_id as id from longshore.bulk_operation_job
    where operation_id = $1 and job_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by job_id desc limit $3`,
  ),
  oldest: prepared(
    'longshore-select-oldest-changed',
    `
    select job_id as id from longshore.bulk_operation_job
    where operation_id = $1 and job_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
    order by job_id limit $3`,
  ),
};

/** $1 id, $2 cursor; numbers to add: $3 seen, $4 changed, $5 skipped; $6 whether the operation is done. */
export const advanceBulk = prepared(
  'longshore-advance-bulk',
  `
    update longshore.bulk_operation
    set cursor = $2, seen = seen + $3, changed = changed + $4, skipped = skipped + $5, restored = restored + $7,
      state = case when $6::boolean then 'done' else state end, finished_at = case when $6::boolean then now() end
    where id = $1`,
);

/** $1 id, $2 final state, $3 error. Ends an operation that is still running. */
export const endBulk = prepared(
  'longshore-end-bulk',
  `
    update longshore.bulk_operation set state = $2, error = $3, finished_at = now()
    where id = $1 and state = 'running'`,
);

/**
 * $1 limit. Deletes up to $1 recorded job ids of the oldest operation that ended more than 30 days ago. Also deletes
 * the operation if it had fewer than $1 ids left. `more` is false if there is no such operation. Skips operations that
 * another server is deleting.
 */
export const deleteOldBulk = prepared(
  'longshore-delete-old-bulk',
  `
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
    select exists (select 1 from old) as more`,
);
