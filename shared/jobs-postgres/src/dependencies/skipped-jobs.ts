import { arrayOf } from '../connection/array-literal.js';
import type { Run } from '../connection/run.js';
import { lockBatches } from './batches.sql.js';
import { skippedErrorName } from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';
import { becomeReadyAgain } from '../jobs/job-moves.sql.js';

interface RestoredRow {
  readonly restored: number;
  readonly ids: readonly string[];
}

/**
 * Makes the jobs wait again that were skipped because of these jobs and batches, directly or through other skipped jobs.
 * Returns how many.
 *
 * The outbox relay may be about to skip more of them at the same time, because of parents that are restored here. It
 * locks the parents, so the parents are restored first, and then their dependents are read again, until there are none.
 *
 * @param visibleQueues the queues whose jobs the caller can see; `null` for all
 */
export async function restoreDependents(
  run: Run,
  parents: readonly string[],
  visibleQueues: readonly string[] | null,
): Promise<number> {
  let restored = 0;
  for (let ids = parents; ids.length > 0;) {
    await run(lockBatches, [arrayOf(ids)]);
    const [row] = (await run(restoreSkipped, [arrayOf(ids), visibleQueues])) as readonly RestoredRow[];
    restored += row?.restored ?? 0;
    ids = row?.ids ?? [];
  }
  return restored;
}

/**
 * SQL condition on a row in history: the job was skipped, that is, cancelled because a parent did not end as required.
 */
const skipped = `attempt = 0 and error ->> 'name' = '${skippedErrorName}'`;

/**
 * Returns a recursive CTE with the jobs that were skipped because of $1 (ids of jobs and batches), directly or through
 * other skipped jobs. Also contains the batches of these jobs, and $1 itself with `is_batch` null.
 *
 * @param visible SQL condition on the row of a job in history; jobs that do not meet it are not found, and neither is what
 *   was skipped because of them
 */
const foundAmong = (visible: string): string => `
    found (id, is_batch) as (
      select unnest($1::uuid[]), null::boolean
      union
      select related.id, related.is_batch from found
      join longshore.job_dependency as dependency on dependency.parent_id = found.id
      cross join lateral (
        select id, (meta ->> 'batchId')::uuid as batch_id
        from longshore.job_history_cancelled as history where history.id = dependency.child_id and ${skipped} and ${visible} limit 1
      ) as dependent
      cross join lateral (values (dependent.id, false), (dependent.batch_id, true)) as related (id, is_batch)
      where related.id is not null
    )`;

/**
 * Like {@link foundAmong}, for Citus, which does not support recursive queries across nodes: a function searches one
 * generation of dependents at a time.
 *
 * @param visibleQueues SQL expression for the names of the queues whose jobs are found; null for all
 */
const foundIn = (visibleQueues: string): string =>
  `found as materialized (select id, is_batch from longshore.skipped_because_of($1::uuid[], ${visibleQueues}))`;

/** $1 jobs and batches, $2 number at which counting stops. Counts the jobs that were skipped because of $1. */
export const countSkipped = prepared(
  'longshore-count-skipped',
  countOf(`recursive ${foundAmong('true')}`),
  countOf(foundIn('null')),
);

function countOf(found: string): string {
  return `
    with ${found}
    select count(*)::integer as jobs
    from (select 1 from found where not is_batch and id <> all ($1::uuid[]) limit $2::integer) as counted`;
}

/**
 * $1 jobs and batches, $2 names of queues, null for all. Makes the jobs in these queues that were skipped because of $1 wait
 * again. Also reopens the batches in $1 and the batches of restored jobs. Otherwise, a batch's callback could be skipped
 * again before the outbox rows of the batch's jobs are processed. Returns the number of restored jobs, and the ids of these
 * jobs and of their batches.
 */
export const restoreSkipped = prepared(
  'longshore-restore-skipped',
  restorationOf(
    `recursive ${foundAmong('($2::text[] is null or history.queue_id in (select queue.id from longshore.queue where queue.name = any($2)))')}`,
  ),
  restorationOf(foundIn('$2::text[]')),
);

function restorationOf(found: string): string {
  return `
    with ${found},
    removed as (
      delete from longshore.job_history_cancelled
      where id = any (array(select id from found where not is_batch and id <> all ($1::uuid[]))) and ${skipped}
      returning *, 'cancelled'::longshore.job_state as state
    ),
    ${becomeReadyAgain('true')},
    unfinished as (
      update longshore.batch set finished_at = null
      where id = any (array(select id from found where is_batch is distinct from false)) and finished_at is not null
    )
    select (select count(*) from removed)::integer as restored,
      array(select id::text from removed union select meta ->> 'batchId' from removed where meta ? 'batchId') as ids`;
}
