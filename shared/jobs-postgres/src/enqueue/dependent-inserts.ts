import { inSlices } from '@longshore/edge';
import { type ContinuationCondition, UnknownParentError } from '@longshore/jobs';
import type { JobMeta, NewBatch, NewJob } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { QueueIds } from '../queues/queue-id-cache.js';
import type { Run } from '../connection/run.js';
import { insertAwaiting } from '../jobs/awaiting-jobs.sql.js';
import { insertBatch } from '../dependencies/batches.sql.js';
import { findParents, insertDependencies, type ParentRow } from '../jobs/dependencies.sql.js';
import type { Insert } from '../jobs/inserts.sql.js';

export function waitsForParents({ after = null }: NewJob): boolean {
  return after !== null;
}

/**
 * Returns the jobs. Those that other jobs of the same call depend on are replaced by marked copies, so that the outbox
 * records when they end. Works in time slices, because each job can have a thousand parents.
 */
export async function withParentsMarked(jobs: readonly NewJob[]): Promise<readonly NewJob[]> {
  if (!jobs.some(waitsForParents)) return jobs;
  const parents = await parentsOf(jobs);
  return jobs.map((job) => {
    if (!parents.has(job.id)) return job;
    const meta: JobMeta = { ...job.meta, hasDependents: true };
    return { ...job, meta };
  });
}

/** Returns the ids of all parents of the jobs. */
async function parentsOf(jobs: readonly NewJob[]): Promise<Set<string>> {
  const parents = new Set<string>();
  await inSlices(jobs, ({ after }) => {
    for (const parent of after?.parents ?? []) parents.add(parent);
  });
  return parents;
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
  const parents = [...(await parentsOf(jobs))].filter((id) => !enqueuedTogether.has(id));
  if (parents.length === 0) return;
  const rows = (await run(findParents, [arrayOf(parents)])) as ParentRow[];
  const places = new Map(rows.map((row) => [row.id, row]));
  await inSlices(jobs, ({ after, visibleQueues = null }) => {
    const queueIds = visibleQueues === null ? null : (visibleIds.get(visibleQueues) ?? new Set());
    const unknown = after?.parents.find(
      (parent) => !enqueuedTogether.has(parent) && !isVisible(places.get(parent), queueIds),
    );
    if (unknown !== undefined) throw new UnknownParentError(unknown);
  });
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
 * Maximum number of dependencies in one statement. Building a larger one would keep other requests waiting: each job can
 * have a thousand parents.
 */
const maxDependencies = 5_000;

interface Dependency {
  readonly parent: string;
  readonly child: string;
  readonly when: ContinuationCondition;
}

/**
 * Yields the statements that insert the dependencies of jobs of one queue on their parents. Builds each on demand.
 *
 * @param newParents parents that need not be marked, because the outbox records their end anyway
 */
export function* dependenciesInserts(
  queueId: number,
  jobs: readonly NewJob[],
  newParents: ReadonlySet<string>,
): Generator<Insert, void> {
  let dependencies: Dependency[] = [];
  for (const { id, after } of jobs) {
    if (after === undefined || after === null) continue;
    for (const parent of after.parents) dependencies.push({ parent, child: id, when: after.when });
    if (dependencies.length < maxDependencies) continue;
    yield dependenciesInsert(queueId, dependencies, newParents);
    dependencies = [];
  }
  if (dependencies.length > 0) yield dependenciesInsert(queueId, dependencies, newParents);
}

function dependenciesInsert(
  queueId: number,
  dependencies: readonly Dependency[],
  newParents: ReadonlySet<string>,
): Insert {
  return {
    statement: insertDependencies,
    values: [
      arrayOf(dependencies.map(({ parent }) => parent)),
      arrayOf(dependencies.map(({ child }) => child)),
      arrayOf(dependencies.map(() => queueId)),
      arrayOf(dependencies.map(({ when }) => when)),
      arrayOf(dependencies.map(({ parent }) => (newParents.has(parent) ? 't' : 'f'))),
    ],
  };
}

export function batchInsert({ id, name, jobs, callback }: NewBatch): Insert {
  const values = [id, name, jobs.length, callback?.id ?? null, callback?.after?.when ?? null];
  return { statement: insertBatch, values };
}
