import type { ContinuationCondition, JobError, JobStorage } from '@longshore/jobs';
import type { FinishedState, NewJob, Outcome } from '@longshore/jobs/storage';

export const error: JobError = { name: 'TypeError', message: 'No such ship', stack: null };

export const outcomeOf: Record<FinishedState, Outcome> = {
  done: { kind: 'done', result: 'null' },
  failed: { kind: 'failed', error },
  cancelled: { kind: 'cancelled', error },
};

/** Returns `job` with the properties that make it depend on these parents. */
export function childOf(
  parents: readonly string[],
  when: ContinuationCondition = 'onDone',
  job: Partial<NewJob> = {},
): Partial<NewJob> {
  return { ...job, after: { parents, when }, meta: { ...job.meta, parentIds: parents } };
}

/** Resolves dependencies until three consecutive calls have found none. */
export async function resolveAll(storage: JobStorage): Promise<void> {
  let quiet = 0;
  while (quiet < 3) quiet = (await storage.maintenance.resolveDependencies(100)) === 0 ? quiet + 1 : 0;
}
