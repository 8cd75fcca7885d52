import { UnknownParentError } from '@longshore/jobs';
import type { JobMeta, NewBatch, NewJob } from '@longshore/jobs/storage';
import { arrayOf } from './array-literal.js';
import type { QueueDirectory } from './queue-directory.js';
import type { Run } from './run.js';
import type { Insert } from './sql/enqueue-jobs.js';
import { insertAwaiting } from './sql/awaiting-jobs.js';
import { insertBatch } from './sql/batches.js';
import { findParents, insertLinks, type ParentRow } from './sql/job-links.js';

export function waitsForParents({ after = null }: NewJob): boolean {
  return after !== null;
}

/** The same jobs, with those marked for which others of them wait: their ends are noted from the beginning. */
export function withFollowed(jobs: readonly NewJob[]): readonly NewJob[] {
  const parents = new Set(jobs.flatMap(({ after }) => after?.parents ?? []));
  if (parents.size === 0) return jobs;
  return jobs.map((job) => {
    if (!parents.has(job.id)) return job;
    const meta: JobMeta = { ...job.meta, followed: true };
    return { ...job, meta };
  });
}

/** The numbers of the queues of each scope. */
export type ParentScopes = ReadonlyMap<readonly string[], ReadonlySet<number>>;

/** Looks up the scopes of jobs that wait for parents; to be called before a connection is held. */
export async function parentScopes(jobs: readonly NewJob[], queues: QueueDirectory): Promise<ParentScopes> {
  const scopes = new Map<readonly string[], ReadonlySet<number>>();
  for (const { scope = null, after = null } of jobs)
    if (scope !== null && after !== null && !scopes.has(scope))
      scopes.set(scope, new Set(await queues.idsOf(scope)));
  return scopes;
}

/**
 * Checks that the parents are there, in the scope of the job that names them, unless they come in the same call.
 *
 * @param scopes from {@link parentScopes}
 * @throws {UnknownParentError} naming the first that is not
 */
export async function checkParents(
  jobs: readonly NewJob[],
  batch: NewBatch | null,
  run: Run,
  scopes: ParentScopes,
): Promise<void> {
  const coming = new Set(jobs.map(({ id }) => id));
  if (batch !== null) coming.add(batch.id);
  const parents = [...new Set(jobs.flatMap(({ after }) => after?.parents ?? []))].filter(
    (id) => !coming.has(id),
  );
  if (parents.length === 0) return;
  const rows = (await run(findParents, [arrayOf(parents)])) as ParentRow[];
  const places = new Map(rows.map((row) => [row.id, row]));
  for (const { after, scope = null } of jobs) {
    const queueIds = scope === null ? null : (scopes.get(scope) ?? new Set());
    const unknown = after?.parents.find(
      (parent) => !coming.has(parent) && !isVisible(places.get(parent), queueIds),
    );
    if (unknown !== undefined) throw new UnknownParentError(unknown);
  }
}

/** A batch is in no queue, so callers with a scope cannot see it. */
function isVisible(parent: ParentRow | undefined, queueIds: ReadonlySet<number> | null): boolean {
  if (parent === undefined || parent.place === null) return false;
  return queueIds === null || (parent.place !== 'batch' && queueIds.has(parent.queue_id));
}

/** Inserts jobs of one queue that wait for others. */
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

/** @param known parents that need not be told that others wait for them */
export function linksInsert(queueId: number, jobs: readonly NewJob[], known: ReadonlySet<string>): Insert {
  const links = jobs.flatMap(({ id, after }) =>
    (after?.parents ?? []).map((parent) => ({ parent, child: id, when: after?.when })),
  );
  return {
    statement: insertLinks,
    values: [
      arrayOf(links.map(({ parent }) => parent)),
      arrayOf(links.map(({ child }) => child)),
      arrayOf(links.map(() => queueId)),
      links.map(({ when }) => when),
      links.map(({ parent }) => known.has(parent)),
    ],
  };
}

export function batchInsert({ id, name, jobs, followUp }: NewBatch): Insert {
  return { statement: insertBatch, values: [id, name, jobs.length, followUp?.id ?? null] };
}
