import { checkTime } from '../job/bounds.js';
import { checkName, checkPriority } from '../job/definition.js';
import type { Job, JsonText } from '../job/job.js';
import type { JobState } from '../job/state.js';

/** The properties that operators can change while a job is waiting to run. */
export interface JobContent {
  readonly queue: string;
  readonly priority: number;
  /** The new arguments. A number that JavaScript considers equal to the stored number keeps the stored digits. */
  readonly args: JsonText;
  /**
   * When the job becomes ready. A ready job that is given a future time becomes scheduled. `null` is allowed only if
   * the job's `runAt` is already `null`.
   */
  readonly runAt: Date | null;
}

/**
 * Decides how jobs are edited. Receives the existing jobs by id, and returns the new content of each job to change.
 * These jobs must be in one of the {@link editableStates}. Asynchronous, so that decisions about thousands of jobs need
 * not block the event loop.
 */
export type DecideEdits = (current: ReadonlyMap<string, Job>) => Promise<ReadonlyMap<string, JobContent>>;

export const editableStates: readonly JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** Maximum total size of the arguments and results of jobs that are edited together, in bytes of JSON. */
export const maxEditedBytes = 16 * 1024 * 1024;

/**
 * Checks the total size of jobs that are edited together. A single job can always be edited.
 *
 * @param bytes the total size of all arguments and results
 * @throws {RangeError} if there is more than one job and `bytes` exceeds {@link maxEditedBytes}
 */
export function checkEditedBytes(ids: readonly string[], bytes: number): void {
  if (ids.length > 1 && bytes > maxEditedBytes)
    throw new RangeError(
      `These ${ids.length} jobs have ${bytes} bytes of arguments and results, and the limit for one edit is ${maxEditedBytes}: edit fewer jobs at a time`,
    );
}

/**
 * Checks the result of {@link DecideEdits}.
 *
 * @throws {RangeError} if a job does not exist or cannot be edited, or its new content is out of bounds
 */
export function checkEdits(current: ReadonlyMap<string, Job>, edits: ReadonlyMap<string, JobContent>): void {
  for (const [id, { queue, priority, runAt }] of edits) {
    const state = current.get(id)?.state;
    if (state === undefined || !editableStates.includes(state))
      throw new RangeError(
        `Job ${id} cannot be edited: ${state === undefined ? 'it does not exist' : `it is ${state}`}`,
      );
    checkName('queue', queue);
    checkPriority(priority);
    if (runAt !== null) checkTime('runAt', runAt);
    else if (current.get(id)?.runAt !== null)
      throw new RangeError(`Job ${id} is due at a set time: runAt cannot be null`);
  }
}
