import { KeyHolderHiddenError } from '../job/errors.js';
import type { Job, NewJob } from '../job/job.js';
import { type Holders, noHolders } from './key-resolution.js';

/** The result of {@link Enqueuer.enqueue}. */
export interface EnqueueResult {
  readonly holders: Holders;
  /**
   * The key holders requested with `showsHolder`, by id, as they were at the time of the call. Excludes holders created
   * by the same call.
   */
  readonly shownHolders: ReadonlyMap<string, Job>;
  /** When the jobs were created, by the storage's clock; `null` if none was created. */
  readonly createdAt: Date | null;
}

export const noShownHolders: EnqueueResult['shownHolders'] = new Map();

/**
 * Returns the result of enqueueing jobs that have no keys.
 *
 * @param createdAt `null` if no job was created
 */
export function enqueueResultOf(createdAt: Date | null): EnqueueResult {
  return { holders: noHolders, shownHolders: noShownHolders, createdAt };
}

/**
 * Returns the ids of the key holders requested with `showsHolder`. Excludes holders created by the same call, because
 * the caller already has them.
 */
export function holdersToShow(jobs: readonly NewJob[], holders: Holders): string[] {
  const createdIds = new Set(jobs.map(({ id }) => id));
  const wanted = jobs.flatMap(({ id, showsHolder = false }) => (showsHolder ? (holders.get(id) ?? []) : []));
  return [...new Set(wanted)].filter((id) => !createdIds.has(id));
}

/**
 * Checks that the caller may see every key holder requested with `showsHolder`.
 *
 * @param find returns the key holder with this id; `undefined` if it was deleted
 * @throws {KeyHolderHiddenError} if a key holder was deleted or is in a queue that the caller cannot see
 */
export function checkShown(
  jobs: readonly NewJob[],
  holders: Holders,
  find: (id: string) => Pick<Job, 'queue'> | undefined,
): void {
  const createdIds = new Set(jobs.map(({ id }) => id));
  for (const { id, showsHolder = false, visibleQueues = null, keys } of jobs) {
    const holderId = holders.get(id);
    if (!showsHolder || holderId === undefined || createdIds.has(holderId)) continue;
    const holder = find(holderId);
    const isVisible =
      holder !== undefined && (visibleQueues === null || visibleQueues.includes(holder.queue));
    const deletedId = holder === undefined && visibleQueues === null ? holderId : null;
    if (!isVisible)
      throw new KeyHolderHiddenError(
        (keys ?? []).map(({ key }) => key),
        deletedId,
      );
  }
}
