import type { Claim, Job } from '../job/job.js';
import type { ActionOptions } from './audit-log.js';
import type { DecideEdits } from './job-content.js';

/** Options of an operator's action on a subject, such as a job, a batch or a recurring job. */
export interface ControlOptions<Subject = Job, Result = unknown> extends ActionOptions<Result> {
  /**
   * Called with the subject before it is changed, and again if the subject may have changed in between. If the function
   * throws, nothing is changed and the action rejects with the same error.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
}

export type JobControlOptions = ControlOptions<Job, ControlResult>;

export interface RetryOptions extends JobControlOptions {
  /**
   * Whether to also restore the dependents that were skipped because this job, or its batch, did not end as required,
   * including those skipped because of other skipped jobs. Restored jobs wait for their parents again. `false` by
   * default.
   */
  readonly dependents?: boolean;
  /** Whether to make the job ready even if it was cancelled while it waited for its parents. `false` by default. */
  readonly regardless?: boolean;
}

/** The result of an operator's action on a job. */
export type ControlResult =
  /**
   * The action was carried out or, for the cancellation of a running job, requested. `changed` is `false` if the job
   * was already in the desired state, or its cancellation already requested.
   */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean }
  /** The job's state does not allow it; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  | { readonly outcome: 'unknown' };

/** Carries out operators' actions on single jobs, and edits several jobs together. */
export interface JobControl {
  /**
   * Cancels a job. A waiting job is cancelled immediately. For a running job, the signal is aborted within a second,
   * and the job is cancelled when its handler throws; if the handler returns anyway, the job is done. Not allowed once
   * a job is done or failed.
   */
  cancel(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Puts a failed or cancelled job back into its queue, with one more attempt if none is left. A job that was cancelled
   * while it waited for its parents goes back to waiting: it becomes ready if they end, or have ended, as required, and
   * is cancelled again if they do not.
   */
  retry(id: string, options?: RetryOptions): Promise<ControlResult>;
  /** Makes a scheduled or awaiting job ready now; an awaiting job no longer waits for its parents. */
  run(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Changes the time of a scheduled job. */
  reschedule(id: string, runAt: Date, options?: ActionOptions<ControlResult>): Promise<ControlResult>;
  /** Deletes a finished job. The result's `job` is the deleted job. */
  delete(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Edits jobs that are not running, all or none. No other process can change the jobs between the decision and the
   * edit. A ready job keeps its position among the jobs of its priority unless it moves to another queue. If a job
   * moves, its unique keys stay in the queue in which it was enqueued.
   *
   * @param decide may be called more than once; if it throws, nothing is changed and the call rejects with the same
   *   error
   * @returns the edited jobs
   * @throws {RangeError} if a queue's name, a priority or a time is out of bounds, a job cannot be edited, or several
   *   jobs together have more than {@link maxEditedBytes} of arguments
   */
  edit(ids: readonly string[], decide: DecideEdits): Promise<Job[]>;
  /**
   * Returns the claims on jobs whose cancellation has been requested. Servers call this about once a second, and on a
   * notification.
   */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}
