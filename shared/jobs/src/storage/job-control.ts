import type { Claim, Job } from '../job/job.js';
import type { JobState } from '../job/state.js';
import type { ActionOptions } from './audit-log.js';
import type { DecideEdits, EditOptions, JobContent } from './job-content.js';
import type { PauseOptions, PauseState } from '../job/pause.js';

/** What operators do to jobs, one at a time or many at once. Each is named after a method of {@link JobControl}. */
export const bulkActions = ['cancel', 'retry', 'run', 'reschedule', 'rename', 'delete'] as const;

export type BulkAction = (typeof bulkActions)[number];

/** The states of the jobs that each action changes. */
export const statesOfAction: Readonly<Record<BulkAction, readonly [JobState, ...JobState[]]>> = {
  cancel: ['awaiting', 'scheduled', 'enqueued', 'processing'],
  retry: ['failed', 'cancelled'],
  run: ['awaiting', 'scheduled'],
  reschedule: ['scheduled'],
  rename: ['awaiting', 'scheduled', 'enqueued'],
  delete: ['done', 'failed', 'cancelled'],
};

/** The states in which a job already is what an action would make of it. */
export const unchangedByAction: Readonly<Record<BulkAction, readonly JobState[]>> = {
  cancel: ['cancelled'],
  retry: ['enqueued', 'processing'],
  run: ['enqueued', 'processing'],
  reschedule: [],
  rename: [],
  delete: [],
};

/** Returns what an action does to a job in this state. `illegal` if the state does not allow it. */
export function effectOf(action: BulkAction, state: JobState): 'change' | 'unchanged' | 'illegal' {
  if (statesOfAction[action].includes(state)) return 'change';
  return unchangedByAction[action].includes(state) ? 'unchanged' : 'illegal';
}

/**
 * Options for an operator's action.
 *
 * @typeParam Subject what the action changes, such as a job, a batch or a recurring job
 * @typeParam Result the result of the action
 */
export interface ControlOptions<Subject = Job, Result = unknown> extends ActionOptions<Result> {
  /**
   * Called with the current subject before the action, and again if another process may have changed the subject since.
   * If the function throws, nothing changes and the action rejects with the same error.
   */
  readonly check?: ((subject: Subject) => void) | undefined;
}

export type JobControlOptions = ControlOptions<Job, ControlResult>;

export interface CancelOptions extends JobControlOptions {
  /** Why, shown with a running job until it has ended; `null` by default. */
  readonly reason?: string | null | undefined;
}

export interface RetryOptions extends JobControlOptions {
  /**
   * Whether to also restore dependents that were skipped because of this job or its batch, directly or through other
   * skipped jobs. Restored jobs wait for their parents again. `false` by default.
   */
  readonly dependents?: boolean;
  /**
   * The queues whose jobs the caller may see; by default, and if `null`, all. Dependents in other queues are not restored,
   * and neither is what was skipped because of them.
   */
  readonly visibleQueues?: readonly string[] | null;
  /** Whether to make the job ready even if it was cancelled while it waited for its parents. `false` by default. */
  readonly ignoreDependencies?: boolean;
  /** New values, as for {@link JobControl.edit}; those that are absent stay as they are. */
  readonly content?: RetriedContent;
}

/** What operators can change of a job when they retry it. */
export type RetriedContent = Partial<Pick<JobContent, 'queue' | 'priority' | 'args'>>;

/** The result of an operator's action on a job. */
export type ControlResult =
  /**
   * The action was carried out or, when cancelling a running job, requested. `changed` is `false` if there was nothing
   * to change: for example, the job was already ready, or its cancellation had already been requested. `restored` is the
   * number of dependents that wait again after {@link RetryOptions.dependents}.
   */
  | { readonly outcome: 'ok'; readonly job: Job; readonly changed: boolean; readonly restored: number }
  /** The job's state does not allow the action; nothing changed. */
  | { readonly outcome: 'illegal'; readonly job: Job }
  /** The job does not exist. */
  | { readonly outcome: 'unknown' };

/** Carries out operators' actions on single jobs, and edits several jobs together. */
export interface JobControl {
  /**
   * Cancels a job. A waiting job is cancelled immediately. If the job is running, its handler's signal is aborted
   * within about a second. The job is cancelled if the handler then throws, and done if the handler returns anyway;
   * until then, its `cancelRequestedAt` is set. A job that is already done or failed cannot be cancelled.
   */
  cancel(id: string, options?: CancelOptions): Promise<ControlResult>;
  /**
   * Makes a failed or cancelled job ready again. If no attempts are left, allows one more. A job that was cancelled
   * while waiting for its parents waits for them again, unless `ignoreDependencies` is set.
   *
   * @throws {RangeError} if the new queue or priority is out of bounds
   */
  retry(id: string, options?: RetryOptions): Promise<ControlResult>;
  /** Makes a scheduled or awaiting job ready now; an awaiting job no longer waits for its parents. */
  run(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Changes when a scheduled job becomes ready. Jobs in other states cannot be rescheduled.
   *
   * @throws {RangeError} if the time is out of bounds
   */
  reschedule(id: string, runAt: Date, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Moves a job that has not started to another job type: servers run it with the handler for that name. Its unique keys
   * remain those of the old name.
   *
   * @throws {RangeError} if the name is invalid
   */
  rename(id: string, toName: string, options?: JobControlOptions): Promise<ControlResult>;
  /** Deletes a finished job. The result's `job` is the deleted job. */
  delete(id: string, options?: JobControlOptions): Promise<ControlResult>;
  /**
   * Edits scheduled, awaiting and ready jobs, all or none. No other process can change the jobs between the decision
   * and the edit. A ready job keeps its position among the jobs of its priority unless it moves to another queue. The
   * unique keys of a job that moves remain in the original queue.
   *
   * @param decide returns the new contents; may be called more than once. If it throws, nothing changes and the call
   *   rejects with the same error
   * @param options the audit entry receives the jobs before and after the edit
   * @returns the edited jobs
   * @throws {RangeError} if a queue's name, a priority, a time, a tag or a number of attempts is out of bounds, a job
   *   cannot be edited, or the
   *   arguments and results of several jobs together exceed {@link maxEditedBytes}
   */
  edit(ids: readonly string[], decide: DecideEdits, options?: EditOptions): Promise<Job[]>;
  /**
   * Returns the given claims whose jobs have a pending cancellation request. Servers call this about once a second, and
   * whenever they are notified.
   */
  cancellations(claims: readonly Claim[]): Promise<Claim[]>;
}

/** A paused job type: servers claim no jobs with this name. */
export interface PausedType extends PauseState {
  readonly name: string;
  readonly pausedAt: Date;
}

/** Options for pausing or resuming a job type. `audit` receives the previous pause, or `null` if there was none. */
export type JobTypeOptions = ActionOptions<PausedType | null>;

export interface PauseTypeOptions extends JobTypeOptions, PauseOptions {}

/** Pauses and resumes job types. A job type comprises all jobs with the same name, across all queues. */
export interface JobTypes {
  /** Lists the paused job types, sorted by name in the order of an alphabet. */
  listPaused(): Promise<PausedType[]>;
  /**
   * Stops servers from claiming jobs with this name until the job type is resumed or the pause ends. Jobs that are
   * already running finish. Other jobs overtake the paused ones in their queues. Returns the previous pause; `null` if
   * there was none.
   *
   * @throws {RangeError} if the reason is empty or too long, or the end is in the past or more than a year ahead
   */
  pause(name: string, options?: PauseTypeOptions): Promise<PausedType | null>;
  /**
   * Ends a pause, so that servers claim jobs with this name again. Returns the pause that has ended; `null` if there
   * was none.
   */
  resume(name: string, options?: JobTypeOptions): Promise<PausedType | null>;
}
