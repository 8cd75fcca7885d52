import type { ContinuationCondition, JobState } from '@longshore/jobs';
import { inLiveTables, liveTables, type LiveTable } from './job-columns.sql.js';
import { anyQueue } from './find-jobs.sql.js';
import { prepared, type Statement } from '../connection/statement.js';

/** A dependency of a job on another job or a batch. */
export interface DependencyRow {
  parent_id: string;
  child_id: string;
  /** The dependent job's queue. */
  queue_id: number;
  /** How the parent must end for this dependency to be met. */
  condition: ContinuationCondition;
}

const columns = 'parent_id, child_id, queue_id, condition';

/**
 * Inserts dependencies, from parallel arrays: $1 parents, $2 dependents, $3 the dependents' queues, $4 conditions, $5
 * whether each dependency is already marked (see {@link markDependencies}).
 */
export const insertDependencies = prepared(
  'longshore-insert-dependencies',
  `
    insert into longshore.job_dependency (${columns}, marked)
    select ${columns}, marked
    from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::boolean[]) as new (${columns}, marked)`,
);

/**
 * $1 parents, $2 limit. Returns the marked, unresolved dependencies on these parents. Unmarked dependencies are
 * resolved later, because marking them records the end of the parent again.
 */
export const openDependencies = prepared(
  'longshore-open-dependencies',
  `
    select ${columns} from longshore.job_dependency
    where parent_id = any($1::uuid[]) and resolved_at is null and marked
    limit $2`,
);

/**
 * $1 parents, $2 dependents, $3 the dependents' queue. Records that these dependencies are met: the parents have ended as
 * required. Leaves out dependents that have moved to another queue since their dependencies were read: a move makes sure
 * that the end of their parents is recorded again.
 */
export const resolveDependencies = prepared(
  'longshore-resolve-dependencies',
  `
    update longshore.job_dependency set resolved_at = now(), marked = true, met = true
    from unnest($1::uuid[], $2::uuid[]) as ended (parent_id, child_id)
    where job_dependency.parent_id = ended.parent_id and job_dependency.child_id = ended.child_id
      and job_dependency.queue_id = $3`,
);

/**
 * $1 dependent to continue after, $2 limit. Locks and returns unmarked dependencies, except those that other servers
 * have locked.
 */
export const takeUnmarkedDependencies = prepared(
  'longshore-take-unmarked-dependencies',
  `
    select ${columns} from longshore.job_dependency
    where not marked and child_id > $1
    order by child_id limit $2
    for update skip locked`,
  'select * from longshore.take_unmarked_dependencies($1, $2)',
);

/**
 * $1 parents, $2 dependents. Marks these dependencies. The mark means that the end of the parent is, or will be,
 * recorded in the outbox.
 */
export const markDependencies = prepared(
  'longshore-mark-dependencies',
  `
    update longshore.job_dependency set marked = true
    from unnest($1::uuid[], $2::uuid[]) as known (parent_id, child_id)
    where job_dependency.parent_id = known.parent_id and job_dependency.child_id = known.child_id`,
);

export type ParentPlace = LiveTable | 'job_history' | 'batch';

export interface ParentRow {
  id: string;
  /** The table that stores the job or batch; `null` if it does not exist. */
  place: ParentPlace | null;
  queue_id: number;
  /** The final state; `null` if the job or batch has not ended or does not exist. */
  state: JobState | null;
}

/**
 * $1 ids. Finds the tables that store these jobs and batches. The search for each id stops at the first match. It reads
 * history last, because most parents are unfinished and history has many partitions.
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
  `
    with wanted as materialized (select unnest($1::uuid[]) as id),
    job as materialized (
      select * from (${[
        ...liveTables.map(
          (table) =>
            `select id, queue_id, '${table}' as place, null::longshore.job_state as state from longshore.${table} where id = any($1::uuid[]) and ${anyQueue}`,
        ),
        `select id, queue_id, 'job_history', state from longshore.job_history where id = any($1::uuid[])`,
      ].join(' union all ')}) as found
    ),
    batch as materialized (
      select id, case when finished_at is null then null
          when failed > 0 then 'failed' when cancelled > 0 then 'cancelled' else 'done' end::longshore.job_state as state
      from longshore.batch where id = any($1::uuid[])
    )
    select distinct on (wanted.id) wanted.id, coalesce(job.place, case when batch.id is not null then 'batch' end) as place,
      coalesce(job.queue_id, case when batch.id is not null then 0 end) as queue_id, coalesce(job.state, batch.state) as state
    from wanted left join job on job.id = wanted.id left join batch on batch.id = wanted.id`,
);

/**
 * $1 ids. Locks the jobs and batches that are still failed or cancelled, so that they and the jobs of the batches cannot be
 * retried together with their dependents. Returns the ids, and the final states of batches. Skips what is being retried,
 * counted or deleted, because waiting for it could deadlock. Also skips batches with a retried job that is not counted yet:
 * another server may be about to count it, and the retry has already restored the dependents that it found.
 */
export const lockUnsuccessful = prepared(
  'longshore-lock-unsuccessful',
  `
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
    select id, null::longshore.job_state as state from failed union all select id, null from cancelled union all select id, state from ended`,
  `select id, null::longshore.job_state as state from longshore.lock_unsuccessful($1::uuid[]) as id
     union all
     select id, case when failed > 0 then 'failed' else 'cancelled' end::longshore.job_state as state
     from longshore.batch where id = any($1::uuid[]) and finished_at is not null and failed + cancelled > 0`,
);

/**
 * $1 parents. Reverts {@link markDependencies} for unresolved dependencies on these parents. They are then marked
 * again, so that the outbox also records when the retried parents end.
 */
export const unmarkDependencies = prepared(
  'longshore-unmark-dependencies',
  `update longshore.job_dependency set marked = false where parent_id = any($1::uuid[]) and resolved_at is null`,
);

/**
 * $1 queue, $2 ids. Marks jobs as having dependents, so that the outbox records when they end. Returns the ids of the
 * marked jobs, including those that were marked before. Skips locked jobs, because marking must not wait for jobs that
 * are being claimed, finished or moved.
 */
export const markParentJobs: Readonly<Record<LiveTable, Statement>> = {
  job: markJobs('job'),
  job_blocked: markJobs('job_blocked'),
  job_scheduled: markJobs('job_scheduled'),
  job_awaiting: markJobs('job_awaiting'),
};

function markJobs(table: string): Statement {
  return prepared(
    `longshore-mark-parents-${table}`,
    `
    with parents as materialized (
      select id from longshore.${table} where queue_id = $1 and id = any($2::uuid[]) order by id for no key update skip locked
    ),
    marked as (
      update longshore.${table} set meta = coalesce(meta, '{}') || '{"hasDependents": true}'
      from parents where ${table}.queue_id = $1 and ${table}.id = parents.id and not coalesce(meta ? 'hasDependents', false)
    )
    select id from parents`,
  );
}

/**
 * $1 ids. Locks unfinished batches, so that they cannot end before the dependencies on them are marked. The batches
 * themselves need no mark, because the outbox records their end anyway. Skips batches that are already locked.
 */
export const lockParentBatches = prepared(
  'longshore-lock-parent-batches',
  `
    select id from longshore.batch where id = any($1::uuid[]) and finished_at is null order by id for share skip locked`,
);

/** $1 parent, $2 limit, $3 dependent to continue after. Returns the ids of the jobs that depend on the parent. */
export const selectDependents = prepared(
  'longshore-select-dependents',
  `
    select child_id as id from longshore.job_dependency
    where parent_id = $1 and child_id > $3
    order by child_id limit $2`,
);

/**
 * $1 parents, $2 maximum number of dependents per parent. Returns one row for each parent that has dependents, with the
 * ids of the dependents.
 */
export const selectDependentsOfEach = prepared(
  'longshore-select-dependents-of-each',
  `
    select parent.id as "parentId", array_agg(child.id) as ids
    from unnest($1::uuid[]) as parent (id) cross join lateral (
      select child_id as id from longshore.job_dependency where parent_id = parent.id order by child_id limit $2
    ) as child
    group by parent.id`,
);

/** Returns an SQL expression for the lowest UUIDv7 with the creation time `time` (RFC 9562, 5.7). */
const firstIdOf = (time: string): string =>
  `rpad(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`;

/**
 * Deletes up to 10,000 dependencies that were resolved at least 30 days ago, which is the longest default retention of
 * finished jobs. Ids are ordered by creation, so the condition on `child_id` excludes newer dependencies from the scan.
 */
export const deleteOldDependencies = prepared(
  'longshore-delete-old-dependencies',
  `
    delete from longshore.job_dependency
    where (parent_id, child_id) in (
      select parent_id, child_id from longshore.job_dependency
      where child_id < ${firstIdOf(`(now() - interval '30 days')`)} and resolved_at < now() - interval '30 days'
      order by child_id limit 10000
    )`,
);
