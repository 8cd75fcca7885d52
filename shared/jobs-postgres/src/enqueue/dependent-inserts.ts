import { UnknownParentError } from '@longshore/jobs';
import type { JobMeta, NewBatch, NewJob } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { QueueIds } from '../connection/queue-id-cache.js';
import type { Run } from '../connection/run.js';
import { insertAwaiting } from '../dependencies/awaiting-jobs.sql.js';
import { insertBatch } from '../dependencies/batches.sql.js';
import { findParents, insertDependencies, type ParentRow } from '../dependencies/dependencies.sql.js';
import type { Insert } from './inserts.sql.js';

export function waitsForParents({ after = null }: NewJob): boolean {
  return after !== null;
}

/**
 * Returns the jobs. Those that other jobs of the same call depend on are replaced by marked copies, so that the outbox
 * records when they end.
 */
export function withParentsMarked(jobs: readonly NewJob[]): readonly NewJob[] {
  const parents = new Set(jobs.flatMap(({ after }) => after?.parents ?? []));
  if (parents.size === 0) return jobs;
  return jobs.map((job) => {
    if (!parents.has(job.id)) return job;
    const meta: JobMeta = { ...job.meta, hasDependents: true };
    return { ...job, meta };
  });
}

/** Maps each `visibleQueues` array, compared by identity, to the ids of the queues that it names. */
export type VisibleQueueIds = ReadonlyMap<readonly string[], ReadonlySet<number>>;

/**
 * Looks up the ids of the queues in the `visibleQueues` of jobs with parents. Must be called before a connection is
 * borrowed, because the lookup can need a connection too.
 */
export async function visibleQueueIds(jobs: readonly NewJob[], queues: QueueIds): Promise<VisibleQueueIds> {
  const visibleIds = new Map<readonly string[], ReadonlySet<number>>();
  for (const { visibleQueues = null, after = null } of jobs)
    if (visibleQueues !== null && after !== null && !visibleIds.has(visibleQueues))
      visibleIds.set(visibleQueues, new Set(await queues.idsOf(visibleQueues)));
  return visibleIds;
}

/**
 * Checks that each parent exists and is visible to the job that depends on it. Parents enqueued by the same call always
 * pass.
 *
 * @param visibleIds from {@link visibleQueueIds}
 * @throws {UnknownParentError} naming the first parent that does not pass
 */
export async function checkParents(
  jobs: readonly NewJob[],
  batch: NewBatch | null,
  run: Run,
  visibleIds: VisibleQueueIds,
): Promise<void> {
  const enqueuedTogether = new Set(jobs.map(({ id }) => id));
  if (batch !== null) enqueuedTogether.add(batch.id);
  const parents = [...new Set(jobs.flatMap(({ after }) => after?.parents ?? []))].filter(
    (id) => !enqueuedTogether.has(id),
  );
  if (parents.length === 0) return;
  const rows = (await run(findParents, [arrayOf(parents)])) as ParentRow[];
  const places = new Map(rows.map((row) => [row.id, row]));
  for (const { after, visibleQueues = null } of jobs) {
    const queueIds = visibleQueues === null ? null : (visibleIds.get(visibleQueues) ?? new Set());
    const unknown = after?.parents.find(
      (parent) => !enqueuedTogether.has(parent) && !isVisible(places.get(parent), queueIds),
    );
    if (unknown !== undefined) throw new UnknownParentError(unknown);
  }
}

/**
 * Returns whether the parent exists and, if `queueIds` is not null, is in one of these queues. A batch belongs to no
 * queue, so callers that are restricted to some queues cannot see it.
 */
function isVisible(parent: ParentRow | undefined, queueIds: ReadonlySet<number> | null): boolean {
  if (parent === undefined || parent.place === null) return false;
  return queueIds === null || (parent.place !== 'batch' && queueIds.has(parent.queue_id));
}

/** Builds the statement that inserts jobs with parents into one queue. The jobs wait until their parents end. */
export function awaitingInsert(queueId: number, jobs: readonly NewJob[]): Insert {
  return {
    statement: insertAwaiting,
    values: [
      queueId,
      arrayOf(jobs.map(({ id }) => id)),
      `[${jobs.map(({ args }) => args).join(',')}]`,
      jobs.map(({ name }) => name),
      arrayOf(jobs.map(({ priority }) => priority)),
      arrayOf(jobs.map(({ maxAttempts }) => maxAttempts)),
      jobs.map(({ meta }) => meta ?? null),
      jobs.map(({ due }) => (due !== null && 'at' in due ? due.at.toISOString() : null)),
      jobs.map(({ due }) => (due !== null && 'inMs' in due ? due.inMs : null)),
    ],
  };
}

/**
 * Builds the insert of the dependencies that jobs of one queue have on their parents.
 *
 * @param known parents that need not be marked, because the outbox records their end anyway
 */
export function dependenciesInsert(
  queueId: number,
  jobs: readonly NewJob[],
  known: ReadonlySet<string>,
): Insert {
  const dependencies = jobs.flatMap(({ id, after }) =>
    (after?.parents ?? []).map((parent) => ({ parent, child: id, when: after?.when })),
  );
  return {
    statement: insertDependencies,
    values: [
      arrayOf(dependencies.map(({ parent }) => parent)),
      arrayOf(dependencies.map(({ child }) => child)),
      arrayOf(dependencies.map(() => queueId)),
      dependencies.map(({ when }) => when),
      dependencies.map(({ parent }) => known.has(parent)),
    ],
  };
}

export function batchInsert({ id, name, jobs, callback }: NewBatch): Insert {
  return { statement: insertBatch, values: [id, name, jobs.length, callback?.id ?? null] };
}
