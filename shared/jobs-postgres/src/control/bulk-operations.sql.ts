import type { BulkAction, BulkOperation, BulkState, JobFilter } from '@longshore/jobs/storage';
import { isObject, readTime, UnreadableTime } from '../connection/stored-value.js';
import { prepared } from '../connection/statement.js';
import type { Cursor } from './bulk-walk.js';

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
  /** `created_at` in the database's full precision. */
  started: string;
  finished_at: Date | null;
  error: string | null;
}

const times = new Set(['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore']);

/** Restores a filter from JSON. */
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
 * @throws {RangeError} if it is not fully readable, because it might match other jobs
 */
export function readOrderedFilter(json: unknown): JobFilter {
  if (!isObject(json)) throw new RangeError('The filter of the operation cannot be read');
  const filter = readFilter(json);
  for (const [name, value] of Object.entries(filter)) {
    if (value instanceof UnreadableTime)
      throw new RangeError(`The filter of the operation cannot be read: ${name} is no time`);
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
    skipped: Number(row.skipped),
    requestedBy: row.requested_by,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    error: row.error,
  };
}

const columns = `id, action, filter, state, cursor, matched, matched_exact, seen, changed, skipped, requested_by, created_at,
  created_at::text as started, finished_at, error`;

/** $1 id, $2 action, $3 filter, $4 who asked for it, $5 how many jobs match, $6 whether that is exact. */
export const insertBulk = prepared(
  'longshore-insert-bulk',
  `
    insert into longshore.bulk_operation (id, action, filter, requested_by, matched, matched_exact)
    values ($1, $2, $3, $4, $5, $6)
    returning ${columns}`,
);

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

/** $1 limit, $2 id to continue after, or null. */
export const selectBulks = prepared(
  'longshore-select-bulks',
  `
    select ${columns} from longshore.bulk_operation
    where id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by id desc limit $1`,
);

/** Usually returns no rows. */
export const selectRunningBulks = prepared(
  'longshore-select-running-bulks',
  `select ${columns} from longshore.bulk_operation where state = 'running' order by id`,
);

/** $1 id. Locks the operation until the transaction ends; returns no row if another server has locked it. */
export const takeBulk = prepared(
  'longshore-take-bulk',
  `
    select ${columns} from longshore.bulk_operation where id = $1 and state = 'running'
    for update skip locked`,
);

/** $1 id, $2 cursor; increments: $3 seen, $4 changed, $5 skipped; $6 whether it is done. */
export const advanceBulk = prepared(
  'longshore-advance-bulk',
  `
    update longshore.bulk_operation
    set cursor = $2, seen = seen + $3, changed = changed + $4, skipped = skipped + $5,
      state = case when $6::boolean then 'done' else state end, finished_at = case when $6::boolean then now() end
    where id = $1`,
);

/** $1 id, $2 state, $3 error. */
export const endBulk = prepared(
  'longshore-end-bulk',
  `
    update longshore.bulk_operation set state = $2, error = $3, finished_at = now()
    where id = $1 and state = 'running'`,
);

export const deleteOldBulks = prepared(
  'longshore-delete-old-bulks',
  `delete from longshore.bulk_operation where finished_at < now() - interval '30 days'`,
);
