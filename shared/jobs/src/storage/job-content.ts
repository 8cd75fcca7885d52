import { checkTime } from '../job/bounds.js';
import { checkName, checkPriority } from '../job/definition.js';
import type { Job, JsonText } from '../job/job.js';
import type { JobState } from '../job/state.js';

/** What operators may change about a job that is not running. */
export interface JobContent {
  readonly queue: string;
  readonly priority: number;
  /** A number that JavaScript reads as the same value as the stored one keeps the digits it is stored with. */
  readonly args: JsonText;
  /** When it becomes ready. A later time makes a ready job wait; `null` only where it was `null` before. */
  readonly runAt: Date | null;
}

/** The states in which jobs can be changed. */
export const editableStates: readonly JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** The most bytes of arguments, as JSON, that several jobs changed at once may have together. */
export const mostEditedBytes = 16 * 1024 * 1024;

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
