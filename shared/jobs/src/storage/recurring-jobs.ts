import type { JsonText } from '../job/job.js';
import type { PauseOptions } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';
import type { SkippedDueTimes } from '../recurring/firing.js';
import type { NewRecurringJob, RecurringJob } from '../recurring/recurring-job.js';

/** The changes made by a synchronization, as lists of ids. */
export interface SynchronizationReport {
  readonly added: string[];
  readonly updated: string[];
  readonly removed: string[];
  /** Recurring jobs that were not changed, because they belong to an operator or to another application. */
  readonly refused: string[];
}

/** Due times of a recurring job that got no job. Consecutive spans with the same reason form one entry. */
export interface MissedRuns extends SkippedDueTimes {
  readonly recurringJobId: string;
}

/** How long missed runs are kept, in days. */
export const missedRunDays = 30;

/** The result of firing one due recurring job. */
export interface FiredRecurringJob {
  readonly id: string;
  /** Ids of the jobs that were enqueued. */
  readonly jobIds: string[];
  readonly skipped: SkippedDueTimes | null;
}

export interface FiringReport {
  readonly fired: FiredRecurringJob[];
  /**
   * Milliseconds until the next recurring job is due, by the storage's clock; 0 if more may be due now; `null` if none
   * will be due.
   */
  readonly nextDueMs: number | null;
}

/** A job that an operator triggered, and its recurring job. */
export interface TriggeredJob {
  readonly id: string;
  readonly queue: string;
  readonly recurringJob: RecurringJob;
}

/** Options for removing a recurring job. The result is `true` if the recurring job existed. */
export type RemovalOptions = Pick<ControlOptions<RecurringJob, boolean>, 'check' | 'audit'>;

/** Stores and fires recurring jobs. All times are by the storage's clock. */
export interface RecurringJobs {
  /**
   * Adds an operator's recurring job, or updates the existing one with this id. An updated job stays paused if it
   * was, and keeps its next due time unless its cron expression or time zone changed.
   *
   * @throws {RecurringJobOwnedError} if an application defines it in code
   */
  addOrUpdate(job: NewRecurringJob): Promise<RecurringJob>;
  /** Adds an operator's recurring job. Returns `null`, and changes nothing, if the id is taken. */
  add(job: NewRecurringJob, transaction?: TransactionClient): Promise<RecurringJob | null>;
  /**
   * Updates a recurring job as {@link addOrUpdate} does. No other process can change it between the call of `change`
   * and the update. Returns `null` if it does not exist. Numbers in the arguments that equal the stored ones when read
   * by JavaScript keep their stored digits.
   *
   * @param change returns the new version of the recurring job; if it throws, nothing is changed and the call rejects
   *   with the same error
   * @throws {RecurringJobOwnedError} if an application defines it in code
   */
  update(id: string, change: (current: RecurringJob) => NewRecurringJob): Promise<RecurringJob | null>;
  /**
   * Updates several recurring jobs in one transaction, all or none, in the same way as {@link update}.
   *
   * @param change receives the existing recurring jobs by id, and returns new versions of some of them; may be called
   *   more than once
   */
  updateAll(
    ids: readonly string[],
    change: (current: ReadonlyMap<string, RecurringJob>) => Promise<readonly NewRecurringJob[]>,
  ): Promise<RecurringJob[]>;
  /**
   * Removes several recurring jobs, all or none, in the same way as {@link remove}. Returns the number removed.
   *
   * @param options `audit` is called with the id of each recurring job that is removed
   */
  removeAll(ids: readonly string[], options?: Pick<ActionOptions<string>, 'audit'>): Promise<number>;
  /**
   * Removes a recurring job. The jobs that it has enqueued remain. Returns `false` if it does not exist. A recurring
   * job that is defined in code is added again when its application starts.
   */
  remove(id: string, options?: RemovalOptions): Promise<boolean>;
  find(id: string): Promise<RecurringJob | null>;
  /**
   * Returns a recurring job's arguments exactly as given, with all digits of large numbers; `null` if it does not
   * exist.
   */
  findArgs(id: string): Promise<JsonText | null>;
  /** Lists all recurring jobs, sorted by id. */
  list(): Promise<RecurringJob[]>;
  /** Lists the missed runs of these recurring jobs, newest first, with at most `limit` entries for each. */
  listMissed(ids: readonly string[], limit: number): Promise<MissedRuns[]>;
  /**
   * Enqueues a job of this recurring job now, regardless of pause and overlap, without changing the schedule. Returns
   * `null` if it does not exist.
   */
  trigger(
    id: string,
    options?: ControlOptions<RecurringJob, TriggeredJob | null>,
  ): Promise<TriggeredJob | null>;
  /**
   * Stops a recurring job from enqueueing jobs until it is resumed or the pause ends. Due times during the pause do not
   * count as missed. A due time at the very end of the pause is no longer part of it.
   *
   * @throws {RangeError} if the reason or the end is out of bounds
   */
  pause(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null> & PauseOptions,
  ): Promise<RecurringJob | null>;
  /**
   * Resumes a recurring job. The next due time is the first one after now or, if the pause has already ended, the first
   * one since its end. Due times during the pause do not count as missed.
   */
  resume(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null>,
  ): Promise<RecurringJob | null>;
  /**
   * Makes the stored recurring jobs of an application match those defined in its code: adds new ones, updates existing
   * ones as {@link addOrUpdate} does, and removes the others. Recurring jobs of other owners are not changed.
   */
  synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<SynchronizationReport>;
  /**
   * Enqueues the jobs of up to `limit` due recurring jobs. A recurring job's new jobs and its next due time are stored
   * in one transaction, so each due time gets its jobs only once, however many servers call this concurrently.
   */
  fireDue(limit: number): Promise<FiringReport>;
}
