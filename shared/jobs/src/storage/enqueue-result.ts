import { KeyHolderHiddenError } from '../job/errors.js';
import type { Job, NewJob } from '../job/job.js';
import { type Holders, noHolders } from './key-resolution.js';

export interface EnqueueResult {
  readonly holders: Holders;
  /**
   * The key holders requested with `includesHolder`, by id, as they were at the time of the call. Excludes holders
   * created by the same call.
   */
  readonly includedHolders: ReadonlyMap<string, Job>;
  /** When the jobs were created, by the storage's clock; `null` if none was created. */
  readonly createdAt: Date | null;
}

export const noIncludedHolders: EnqueueResult['includedHolders'] = new Map();

/**
 * Returns the result of enqueueing jobs that have no keys.
 *
 * @param createdAt `null` if no job was created
 */
export function enqueueResultOf(createdAt: Date | null): EnqueueResult {
  return { holders: noHolders, includedHolders: noIncludedHolders, createdAt };
}

/**
 * Returns the ids of the key holders requested with `includesHolder`. Excludes holders created by the same call,
 * because the caller already has them.
 */
export function holdersToInclude(jobs: readonly NewJob[], holders: Holders): string[] {
  const createdIds = new Set(jobs.map(({ id }) => id));
  const wanted = jobs.flatMap(({ id, includesHolder = false }) =>
    includesHolder ? (holders.get(id) ?? []) : [],
  );
  return [...new Set(wanted)].filter((id) => !createdIds.has(id));
}

/**
 * Checks that the caller may see every key holder requested with `includesHolder`.
 *
 * @param find returns the key holder with this id; `undefined` if it was deleted
 * @throws {KeyHolderHiddenError} if a key holder was deleted or is in a queue that the caller cannot see
 */
export function checkIncluded(
  jobs: readonly NewJob[],
  holders: Holders,
  find: (id: string) => Pick<Job, 'queue'> | undefined,
): void {
  const createdIds = new Set(jobs.map(({ id }) => id));
  for (const { id, includesHolder = false, visibleQueues = null, keys } of jobs) {
    const holderId = holders.get(id);
    if (!includesHolder || holderId === undefined || createdIds.has(holderId)) continue;
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
