import type { Claim, Job } from '../job/job.js';
import type { JobContent } from './job-content.js';
import type { TransactionClient } from './transaction.js';

/** Options of an operator's action on a job, batch or server. */
export interface ControlOptions<Subject = Job> {
  /**
   * Called with the subject before it is changed; nobody else can change it in between. If it throws, nothing is
   * changed and the action rejects with the same error.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
  /**
   * A transaction of the caller's in which the action runs. The memory storage supports none and throws a
   * `TypeError`.
   */
  readonly transaction?: TransactionClient | undefined;
}

/** The result of an operator's action on a job. */
export type ControlResult =
  /** Done, or about to be. `changed` is `false` if the job was already in the desired state. */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** Operators' actions on single jobs. */
export interface JobControl {
  /**
   * Cancels a job. A waiting job is cancelled immediately. A running job has its signal aborted within a second, and
   * is cancelled when its handler throws; if the handler returns anyway, the job is done. Allowed until a job is done
   * or failed.
   */
  cancel(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Sends a failed or cancelled job back to its queue, with one more attempt if none is left. */
  retry(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Makes a scheduled or awaiting job ready now; an awaiting one no longer waits for its parents. */
  run(id: string, options?: ControlOptions): Promise<ControlResult>;
  /** Changes the time of a scheduled job. */
  reschedule(id: string, runAt: Date): Promise<ControlResult>;
  /** Deletes a finished job. The result's `job` is the deleted job. */
  delete(id: string, options?: ControlOptions): Promise<ControlResult>;
  /**
   * Edits jobs that are not running, all or none; nobody else can change them in between. A ready job keeps its place
   * among those of its priority unless it moves to another queue. A key that it holds stays in the queue where it was
   * enqueued.
   *
   * @param decide gets the existing jobs by id, and returns new content for some that are in one of {@link
   *   editableStates}; if it throws, nothing is changed and this rejects with the same error
   * @returns the edited jobs
   * @throws {RangeError} if a queue's name, a priority or a time is out of bounds, a job cannot be edited, or several
   *   jobs together have more than {@link mostEditedBytes} of arguments
   */
  edit(
    ids: readonly string[],
    decide: (current: ReadonlyMap<string, Job>) => ReadonlyMap<string, JobContent>,
  ): Promise<Job[]>;
  /** Returns the claims whose jobs have been cancelled. Servers call it about once a second, and on a notification. */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
