import type { ContinuationCondition, JobState } from '@longshore/jobs';
import { inLiveTables, type LiveTable } from '../read/job-columns.sql.js';
import { prepared, type Statement } from '../connection/statement.js';

/** A dependency of a job on another job or a batch. */
export interface DependencyRow {
  parent_id: string;
  child_id: string;
  /** The dependent job's queue. */
  queue_id: number;
  condition: ContinuationCondition;
}

const link = 'parent_id, child_id, queue_id, condition';

/** $1 parents, $2 dependents, $3 the dependents' queues, $4 conditions, $5 whether each parent is already marked. */
export const insertDependencies = prepared(
  'longshore-insert-links',
  `
    insert into longshore.job_dependency (${link}, marked)
    select ${link}, marked
    from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::boolean[]) as new (${link}, marked)`,
);

/** $1 parents, $2 limit. Returns unresolved dependencies. Unmarked ones are left out: marking them records the end again. */
export const openDependencies = prepared(
  'longshore-open-links',
  `
    select ${link} from longshore.job_dependency
    where parent_id = any($1::uuid[]) and resolved_at is null and marked
    limit $2`,
);

/** $1 parents, $2 dependents. Records that these dependencies are resolved. */
export const resolveDependencies = prepared(
  'longshore-settle-links',
  `
    update longshore.job_dependency set resolved_at = now(), marked = true
    from unnest($1::uuid[], $2::uuid[]) as ended (parent_id, child_id)
    where job_dependency.parent_id = ended.parent_id and job_dependency.child_id = ended.child_id`,
);

/** $1 dependent to continue after, $2 limit. Returns unmarked dependencies, locked; skips those locked by other servers. */
export const takeUnmarkedDependencies = prepared(
  'longshore-take-unmarked',
  `
    select ${link} from longshore.job_dependency
    where not marked and child_id > $1
    order by child_id limit $2
    for update skip locked`,
);

/** $1 parents, $2 dependents. Records that the parents of these dependencies are marked. */
export const markDependencies = prepared(
  'longshore-mark-links',
  `
    update longshore.job_dependency set marked = true
    from unnest($1::uuid[], $2::uuid[]) as known (parent_id, child_id)
    where job_dependency.parent_id = known.parent_id and job_dependency.child_id = known.child_id`,
);

export type ParentPlace = LiveTable | 'job_history' | 'batch';

export interface ParentRow {
  id: string;
  /** The table where it was found; `null` if there is no such job or batch. */
  place: ParentPlace | null;
  queue_id: number;
  /** The final state, if it has ended. */
  state: JobState | null;
}

/**
 * $1 ids. Finds the tables that hold these jobs and batches. A job changes tables in a single transaction, so a snapshot shows it
 * in exactly one. The search for each stops at the first match, because most parents are alive and history has many partitions.
 */
export const findParents = prepared(
  'longshore-find-parents',
  `
    select wanted.id, found.place, found.queue_id, found.state
    from unnest($1::uuid[]) as wanted (id)
    left join lateral (
      ${inLiveTables(
        (table) => `select '${table}' as place, queue.id as queue_id, null::longshore.job_state as state
      from longshore.queue join longshore.${table} on ${table}.queue_id = queue.id and ${table}.id = wanted.id`,
      )}
      union all select 'batch', 0,
        case when finished_at is null then null
          when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state
      from longshore.batch where id = wanted.id
      union all select 'job_history', queue_id, state from longshore.job_history where id = wanted.id
      limit 1
    ) as found on true`,
);

/**
 * $1 queue, $2 ids. Marks jobs as having dependents, so that their end is recorded, and returns the jobs that are marked. Skips
 * jobs that are being claimed, finished or moved: marking must not wait for their locks.
 */
export const markParentJobs: Readonly<Record<LiveTable, Statement>> = {
  job: follow('job'),
  job_blocked: follow('job_blocked'),
  job_scheduled: follow('job_scheduled'),
  job_awaiting: follow('job_awaiting'),
};

function follow(table: string): Statement {
  return prepared(
    `longshore-follow-${table}`,
    `
    with held as materialized (
      select id from longshore.${table} where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
    ),
    told as (
      update longshore.${table} set meta = coalesce(meta, '{}') || '{"followed": true}'
      from held where ${table}.queue_id = $1 and ${table}.id = held.id and not coalesce(meta ? 'followed', false)
    )
    select id from held`,
  );
}

/** $1 ids. Keeps unfinished batches from ending until their dependencies are marked. Batches themselves need no mark. */
export const lockParentBatches = prepared(
  'longshore-follow-batches',
  `
    select id from longshore.batch where id = any($1::uuid[]) and finished_at is null order by id for share skip locked`,
);

/** $1 parent, $2 limit, $3 dependent to continue after. */
export const selectDependents = prepared(
  'longshore-select-children',
  `
    select child_id as id from longshore.job_dependency
    where parent_id = $1 and child_id > $3
    order by child_id limit $2`,
);

/** Returns a SQL expression for the lower bound of UUIDv7s created at `time`, itself a SQL expression (RFC 9562, 5.7). */
const firstIdOf = (time: string): string =>
  `rpad(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`;

/**
 * Deletes dependencies resolved 30 days ago, the longest time that finished jobs are kept by default. Ids are ordered by
 * creation, so newer dependencies are not scanned.
 */
export const deleteOldDependencies = prepared(
  'longshore-delete-old-links',
  `
    delete from longshore.job_dependency
    where (parent_id, child_id) in (
      select parent_id, child_id from longshore.job_dependency
      where child_id < ${firstIdOf(`(now() - interval '30 days')`)} and resolved_at < now() - interval '30 days'
      order by child_id limit 10000
    )`,
);
