import { KeyHolderHiddenError } from '../job/errors.js';
import type { Job, NewJob } from '../job/job.js';
import { type Holders, noHolders } from './key-resolution.js';

/** What a storage tells about jobs that it took. */
export interface Receipt {
  readonly holders: Holders;
  /** The holders that were to be shown (`showsHolder`), by their ids, as they were when the jobs were enqueued. */
  readonly shown: ReadonlyMap<string, Job>;
  /** By the storage's clock: when the jobs were created, all at once. `null` if none was. */
  readonly createdAt: Date | null;
}

export const noneShown: Receipt['shown'] = new Map();

/** For jobs that brought no keys. */
export function receiptOf(createdAt: Date | null): Receipt {
  return { holders: noHolders, shown: noneShown, createdAt };
}

/** The ids of the holders that a receipt must show: those of the same call need no look-up. */
export function holdersToShow(jobs: readonly NewJob[], holders: Holders): string[] {
  const coming = new Set(jobs.map(({ id }) => id));
  const wanted = jobs.flatMap(({ id, showsHolder = false }) => (showsHolder ? (holders.get(id) ?? []) : []));
  return [...new Set(wanted)].filter((id) => !coming.has(id));
}

/**
 * Checks that every holder that must be shown can be.
 *
 * @param find gives a job as it is now; `undefined` if it has been deleted
 * @throws {KeyHolderHiddenError} naming a key whose holder is deleted or out of the scope of the job that brought it
 */
export function checkShown(
  jobs: readonly NewJob[],
  holders: Holders,
  find: (id: string) => Pick<Job, 'queue'> | undefined,
): void {
  const coming = new Set(jobs.map(({ id }) => id));
  for (const { id, showsHolder = false, scope = null, keys } of jobs) {
    const holderId = holders.get(id);
    if (!showsHolder || holderId === undefined || coming.has(holderId)) continue;
    const holder = find(holderId);
    const isVisible = holder !== undefined && (scope === null || scope.includes(holder.queue));
    const deletedId = holder === undefined && scope === null ? holderId : null;
    if (!isVisible)
      throw new KeyHolderHiddenError(
        (keys ?? []).map(({ key }) => key),
        deletedId,
      );
  }
}
