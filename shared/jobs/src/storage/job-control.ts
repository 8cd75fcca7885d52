import type { Claim, Job } from '../job/job.js';
import type { ActionOptions } from './audit-log.js';
import type { JobContent } from './job-content.js';

/** Options of an operator's action on one thing: by default, on a job. */
export interface ControlOptions<Subject = Job, Result = unknown> extends ActionOptions<Result> {
  /**
   * Gets the subject as it is before anything is done to it; nobody else changes it in between. If it throws, nothing was
   * changed and the control rejects with the same error.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
}

export type JobControlOptions = ControlOptions<Job, ControlResult>;

/** The result of an operator's action on a job. */
export type ControlResult =
  /** Done, or about to be. `changed` is `false` if it was so already. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** What operators do to single jobs. */
export interface JobControl {
  /**
   * Cancels a job. One that waits is cancelled at once. A running one has its signal aborted within a second and is
   * cancelled when its handler throws; a handler that returns all the same ends the job done. Legal until a job is done
   * or failed.
   */
  cancel(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Sends a failed or cancelled job back to its queue, with one more attempt allowed if it has none left. */
  retry(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Makes a scheduled job ready now, or an awaiting one, which then no longer waits for its parents. */
  run(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Gives a scheduled job another time. */
  reschedule(id: string, runAt: Date, options?: ActionOptions<ControlResult>): Promise<ControlResult>;
  /** Deletes a finished job. The result's `job` is the job as it was. */
  delete(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Changes jobs that are not running, all of them or none; nothing else happens to them in between. A ready job keeps its
   * place among those of its priority unless it moves to another queue. A key that it holds stays in the queue it was
   * enqueued in.
   *
   * @param decide gets those of the jobs that exist, by id, and returns the new content of some that are in one of
   * {@link editableStates}; if it throws, nothing was changed and this rejects with the same error
   * @returns the jobs that `decide` returned content for, as they are afterwards
   * @throws {RangeError} if a queue's name, a priority or a time is out of its bounds, a job cannot be changed, or several
   * together have more than {@link mostEditedBytes} of arguments
   */
  edit(
    ids: readonly string[],
    decide: (current: ReadonlyMap<string, Job>) => ReadonlyMap<string, JobContent>,
  ): Promise<Job[]>;
  /** Those of the claims whose jobs have been asked to cancel. Servers ask about once a second and on a notification. */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
