import type { JsonText } from '../job/job.js';
import type { PauseOptions } from '../job/pause.js';
import type { ActionOptions } from './audit-log.js';
import type { ControlOptions } from './job-control.js';
import type { SkippedDueTimes } from '../recurring/firing.js';
import type { NewRecurringJob, RecurringJob } from '../recurring/recurring-job.js';

/** The result of {@link RecurringJobs.synchronize}: the ids of recurring jobs, by what happened to them. */
export interface SynchronizationReport {
  readonly added: string[];
  readonly updated: string[];
  readonly removed: string[];
  /** Not changed, because the existing recurring job was added by an operator or belongs to another application. */
  readonly refused: string[];
}

/** Selects recurring jobs by members that have one of the given values. */
export interface RecurringFilter {
  readonly names?: readonly string[];
  readonly queues?: readonly string[];
  readonly applications?: readonly string[];
}

/** How many recurring jobs {@link RecurringJobs.list} returns by default. */
export const maxListedRecurring = 10_000;

export interface RecurringQuery extends RecurringFilter {
  /** Ascending by default. */
  readonly order?: 'ascending' | 'descending';
  /** The page begins after this id, in the given order. */
  readonly after?: string;
  /** Maximum number of recurring jobs; {@link maxListedRecurring} by default. */
  readonly limit?: number;
  readonly offset?: number;
}

/** A span of due times for which no job was enqueued. Consecutive spans with the same reason are merged into one. */
export interface MissedRuns extends SkippedDueTimes {
  readonly recurringJobId: string;
}

/** How long {@link MissedRuns} are kept, in days. */
export const missedRunDays = 30;

export interface FiredRecurringJob {
  readonly id: string;
  /** Ids of the jobs that were enqueued. */
  readonly jobIds: string[];
  readonly skipped: SkippedDueTimes | null;
}

export interface FiringReport {
  readonly fired: FiredRecurringJob[];
  /**
   * Milliseconds until the next recurring job is due or can be tried again; 0 if more recurring jobs may be due now.
   * The Postgres storage limits the value to a day. If no recurring job has a next due time, it returns a day, and the
   * memory storage returns `null`.
   */
  readonly nextDueMs: number | null;
}

/** A job that was enqueued by {@link RecurringJobs.trigger}, and its recurring job. */
export interface TriggeredJob {
  /** The id of the job, or of the one that holds its unique key. */
  readonly id: string;
  /** `false` if the job was not created, because another job holds its unique key. */
  readonly created: boolean;
  readonly queue: string;
  readonly recurringJob: RecurringJob;
}

/** Receives the existing recurring jobs by id, and returns new versions of the ones to update. */
export type DecideRecurringJobs = (
  current: ReadonlyMap<string, RecurringJob>,
) => Promise<readonly NewRecurringJob[]>;

/** The result of an update of several recurring jobs. */
export interface RecurringJobsUpdate {
  /** The existing recurring jobs before the update, by id. */
  readonly before: ReadonlyMap<string, RecurringJob>;
  readonly jobs: readonly RecurringJob[];
}

/** `audit` receives `true` if the recurring job existed. */
export type RemovalOptions = ControlOptions<RecurringJob, boolean>;

/** Stores recurring jobs and enqueues their jobs when they are due. All times are by the storage's clock. */
export interface RecurringJobs {
  /**
   * Adds a recurring job on behalf of an operator, or updates the existing one with this id. An update does not end a
   * pause. It keeps the next due time if the schedule stays the same: `cron`, `timeZone`, `every` and `anchor`.
   *
   * @throws {RecurringJobOwnedError} if the existing recurring job is defined in an application's code
   */
  addOrUpdate(job: NewRecurringJob): Promise<RecurringJob>;
  /** Adds a recurring job on behalf of an operator. If the id is taken, changes nothing and returns `null`. */
  add(job: NewRecurringJob, options?: ActionOptions<RecurringJob | null>): Promise<RecurringJob | null>;
  /**
   * Updates a recurring job as {@link addOrUpdate} does. Returns `null` if the recurring job does not exist. No other
   * process can change the recurring job between the call to `change` and the update. A number in the new arguments
   * that JavaScript considers equal to the stored number keeps the stored digits.
   *
   * @param change returns the new version of the recurring job; may be called more than once. If it throws, nothing
   *   changes and the call rejects with the same error
   * @throws {RecurringJobOwnedError} if the recurring job is defined in an application's code
   */
  update(id: string, change: (current: RecurringJob) => NewRecurringJob): Promise<RecurringJob | null>;
  /**
   * Like {@link update}, but updates several recurring jobs, all or none. Returns the updated recurring jobs.
   *
   * @param change receives the existing recurring jobs by id, and returns new versions of the ones to update; may be
   *   called more than once
   */
  updateAll(
    ids: readonly string[],
    change: DecideRecurringJobs,
    options?: ActionOptions<RecurringJobsUpdate>,
  ): Promise<RecurringJob[]>;
  /**
   * Removes several recurring jobs, all or none. Ignores ids that do not exist. Returns the number of recurring jobs
   * removed.
   *
   * @param options `audit` is called with the id of each removed recurring job
   */
  removeAll(ids: readonly string[], options?: ActionOptions<string>): Promise<number>;
  /**
   * Removes a recurring job, but not the jobs that it has enqueued. Returns `false` if the recurring job does not
   * exist. If it is defined in an application's code, the application adds it again at the next start.
   */
  remove(id: string, options?: RemovalOptions): Promise<boolean>;
  find(id: string): Promise<RecurringJob | null>;
  /**
   * Returns a recurring job's arguments exactly as stored, including numbers with more digits than JavaScript can
   * represent; `null` if the recurring job does not exist.
   */
  findArgs(id: string): Promise<JsonText | null>;
  /** Lists recurring jobs, sorted by id in the order of an alphabet; without a query, all in ascending order. */
  list(query?: RecurringQuery): Promise<RecurringJob[]>;
  count(filter?: RecurringFilter): Promise<number>;
  /** Lists the missed runs of several recurring jobs, newest first, with at most `limit` entries per recurring job. */
  listMissed(ids: readonly string[], limit: number): Promise<MissedRuns[]>;
  /**
   * Enqueues a job now, even if the recurring job is paused or its previous job is unfinished. The schedule does not
   * change. If another job holds the unique key, no job is created, whatever `onConflict` is; `replace` gives that job the
   * content of the new one. Returns `null` if the recurring job does not exist.
   */
  trigger(
    id: string,
    options?: ControlOptions<RecurringJob, TriggeredJob | null>,
  ): Promise<TriggeredJob | null>;
  /**
   * Stops a recurring job from enqueueing jobs until it is resumed or the pause ends. Due times during the pause do not
   * count as missed. A due time exactly at the end of the pause is not skipped. Returns the paused recurring job;
   * `null` if there is no recurring job with this id.
   *
   * @throws {RangeError} if the reason is empty or too long, or the end is in the past or more than a year ahead
   */
  pause(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null> & PauseOptions,
  ): Promise<RecurringJob | null>;
  /**
   * Ends a pause. The next due time is the first one after now. If the pause has already reached its end, the next due
   * time is the first one at or after that end. Due times during the pause do not count as missed. Returns the resumed
   * recurring job; `null` if there is no recurring job with this id.
   */
  resume(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null>,
  ): Promise<RecurringJob | null>;
  /**
   * Makes an application's stored recurring jobs match those defined in its code: adds new ones, updates existing ones
   * as {@link addOrUpdate} does, and removes those no longer defined. Recurring jobs that were added by operators or
   * belong to other applications are not changed.
   */
  synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<SynchronizationReport>;
  /**
   * Enqueues the jobs of up to `limit` due recurring jobs. The new jobs and the next due time are stored in one
   * transaction. Each due time is therefore handled only once, even if several servers call this concurrently.
   */
  fireDue(limit: number): Promise<FiringReport>;
}
