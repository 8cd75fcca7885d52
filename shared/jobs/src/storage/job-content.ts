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
