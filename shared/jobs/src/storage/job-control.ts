import type { Claim, Job } from '../job/job.js';
import type { ActionOptions } from './audit-log.js';
import type { DecideEdits } from './job-content.js';

/** Options of an operator's action on a job, batch or server. */
export interface ControlOptions<Subject = Job, Result = unknown> extends ActionOptions<Result> {
  /**
   * Called with the subject before it is changed; nobody else can change it in between. If it throws, nothing is
   * changed and the action rejects with the same error.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
}

export type JobControlOptions = ControlOptions<Job, ControlResult>;

export interface RetryOptions extends JobControlOptions {
  /**
   * Also restores the jobs that were skipped because this one, or its batch, did not end as required, directly or
   * through other skipped jobs; they then wait for their parents again. `false` by default.
   */
  readonly dependents?: boolean;
  /** Makes the job ready even if it was cancelled while it waited for other jobs. `false` by default. */
  readonly regardless?: boolean;
}

/** The result of an operator's action on a job. */
export type ControlResult =
  /**
   * The action was carried out or, if it cancels a running job, will be shortly. `changed` is `false` if the job was
   * already in the desired state.
   */
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
  cancel(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Puts a failed or cancelled job back into its queue, with one more attempt if none is left. A job with dependencies that
   * was cancelled before it started waits for them again: it becomes ready if they have ended as required, and is cancelled
   * again if they have ended otherwise.
   */
  retry(id: string, options?: RetryOptions): Promise<ControlResult>;
  /** Makes a scheduled or awaiting job ready now; an awaiting one no longer waits for its parents. */
  run(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Changes the time of a scheduled job. */
  reschedule(id: string, runAt: Date, options?: ActionOptions<ControlResult>): Promise<ControlResult>;
  /** Deletes a finished job. The result's `job` is the deleted job. */
  delete(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Edits jobs that are not running, all or none; nobody else can change them in between. A ready job keeps its place
   * among those of its priority unless it moves to another queue. The keys of a job that moves stay in the queue in
   * which it was enqueued.
   *
   * @param decide may be called more than once; if it throws, nothing is changed and the call rejects with the same error
   * @returns the edited jobs
   * @throws {RangeError} if a queue's name, a priority or a time is out of bounds, a job cannot be edited, or several
   *   jobs together have more than {@link maxEditedBytes} of arguments
   */
  edit(ids: readonly string[], decide: DecideEdits): Promise<Job[]>;
  /** Returns the claims whose jobs have been cancelled. Servers call it about once a second, and on a notification. */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
