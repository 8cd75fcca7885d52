import { type JobMeta, type NewBatch, type NewJob, UnknownParentError } from '@longshore/jobs';
import { arrayOf } from './array-literal.js';
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

/**
 * Looks whether the parents are there that do not come in the same call.
 *
 * @throws {UnknownParentError} naming the first that is not
 */
export async function checkParents(jobs: readonly NewJob[], batch: NewBatch | null, run: Run): Promise<void> {
  const coming = new Set(jobs.map(({ id }) => id));
  if (batch !== null) coming.add(batch.id);
  const parents = [...new Set(jobs.flatMap(({ after }) => after?.parents ?? []))].filter(
    (id) => !coming.has(id),
  );
  if (parents.length === 0) return;
  const rows = await run(findParents, [arrayOf(parents)]);
  const missing = (rows as ParentRow[]).find(({ place }) => place === null);
  if (missing !== undefined) throw new UnknownParentError(missing.id);
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
