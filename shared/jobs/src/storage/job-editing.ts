import { checkTime } from '../job/bounds.js';
import { checkName, checkPriority } from '../job/definition.js';
import type { Job, JsonText } from '../job/job.js';
import type { JobState } from '../job/state.js';

/** What operators may change about a job that does not run. */
export interface JobContent {
  readonly queue: string;
  readonly priority: number;
  /** Numbers in it that JavaScript reads as it reads those that are stored stay as they are stored, to the last digit. */
  readonly args: JsonText;
  /** The time that it waits for. Another one makes a ready job wait; `null` only where it was so. */
  readonly runAt: Date | null;
}

/** The states in which jobs can be changed. */
export const editableStates: readonly JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** What several jobs that are changed at once were given may take so many bytes together, as JSON. */
export const mostEditedBytes = 16 * 1024 * 1024;

export interface JobEditing {
  /**
   * Changes jobs that do not run, all of them or none; nothing else happens to them in between. A ready job keeps its place
   * among those of its priority unless it comes to another queue. A key that it holds stays that of the queue it was enqueued in.
   *
   * @param decide gets those of the jobs that exist as they are, by id, and gives the new content of some that are in one of
   * {@link editableStates}; what it throws, nothing has been changed then, this rejects with
   * @returns the jobs that `decide` gave content for, as they are then
   * @throws {RangeError} if a queue has a name that it cannot have, a priority or a time is out of its bounds, a job cannot be
   * changed, or several together have more than {@link mostEditedBytes}
   */
  editJobs(
    ids: readonly string[],
    decide: (current: ReadonlyMap<string, Job>) => ReadonlyMap<string, JobContent>,
  ): Promise<Job[]>;
}

/**
 * @param bytes of the arguments of all of them
 * @throws {RangeError} if that is too much for more than one job
 */
export function checkEditedBytes(ids: readonly string[], bytes: number): void {
  if (ids.length > 1 && bytes > mostEditedBytes)
    throw new RangeError(
      `These ${ids.length} jobs have ${bytes} bytes of arguments, more than the ${mostEditedBytes} that are changed at once: change fewer of them at a time`,
    );
}

/** @throws {RangeError} if one of them is not there or cannot be changed, or what it is to become is out of bounds */
export function checkEdits(current: ReadonlyMap<string, Job>, edits: ReadonlyMap<string, JobContent>): void {
  for (const [id, { queue, priority, runAt }] of edits) {
    const state = current.get(id)?.state;
    if (state === undefined || !editableStates.includes(state))
      throw new RangeError(`Job ${id} cannot be changed: it is ${state ?? 'not there'}`);
    checkName('queue', queue);
    checkPriority(priority);
    if (runAt !== null) checkTime('runAt', runAt);
  }
}
