import type { JsonText } from '../job/job.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';
import type { PassedOver } from '../recurring/firing.js';
import type { NewRecurringJob, RecurringJob } from '../recurring/recurring-job.js';

/** What a synchronisation changed; each list holds ids. */
export interface SynchronizationReport {
  readonly added: string[];
  readonly updated: string[];
  readonly removed: string[];
  /** They belong to an operator or to another application, and stayed as they were. */
  readonly refused: string[];
}

/** The result of firing one due recurring job. */
export interface FiredRecurringJob {
  readonly id: string;
  /** Of the jobs that it enqueued. */
  readonly jobIds: string[];
  readonly passedOver: PassedOver | null;
}

export interface FiringReport {
  readonly fired: FiredRecurringJob[];
  /** Milliseconds until the next one is due by the storage's clock; 0 to look again at once; `null` if none is to come. */
  readonly nextDueMs: number | null;
}

/** A job that was enqueued by hand, and the recurring job that it is of. */
export interface TriggeredJob {
  readonly id: string;
  readonly queue: string;
  readonly recurringJob: RecurringJob;
}

/** Stores and fires recurring jobs. All times are by the storage's clock. */
export interface RecurringJobs {
  /**
   * Stores an operator's recurring job. One that is there already is changed: it keeps its pause, and unless cron or time
   * zone are new, its next due time.
   *
   * @throws {RecurringJobOwnedError} if it is an application's
   */
  addOrUpdate(job: NewRecurringJob): Promise<RecurringJob>;
  /** Stores an operator's recurring job. `null`: there is one with this id; nothing was changed. */
  add(job: NewRecurringJob, transaction?: TransactionClient): Promise<RecurringJob | null>;
  /**
   * Changes a recurring job as {@link addOrUpdate} does, and nobody else in between. `null`: there is none. Numbers in its
   * arguments that JavaScript reads as it reads those that are stored stay as they are stored, to the last digit.
   *
   * @param change gets the recurring job as it is; what it throws, nothing has been changed then, this rejects with
   * @throws {RecurringJobOwnedError} if it is an application's
   */
  update(id: string, change: (current: RecurringJob) => NewRecurringJob): Promise<RecurringJob | null>;
  /**
   * Changes several in one transaction, all or none, as {@link update} changes one.
   *
   * @param change gets those of the ids that there are, and gives what they are to be: some of them, or none
   */
  updateAll(
    ids: readonly string[],
    change: (current: ReadonlyMap<string, RecurringJob>) => readonly NewRecurringJob[],
  ): Promise<RecurringJob[]>;
  /** Removes several at once, as {@link remove} does one; how many there were. */
  removeAll(ids: readonly string[]): Promise<number>;
  /** `false`: there is none. Jobs that it enqueued stay. One that code defines comes back when its application starts. */
  remove(id: string, options?: Pick<ControlOptions<RecurringJob>, 'check'>): Promise<boolean>;
  find(id: string): Promise<RecurringJob | null>;
  /** Its arguments as they were given, with all digits of large numbers. `null`: there is none with this id. */
  findArgs(id: string): Promise<JsonText | null>;
  /** All of them, by id. */
  list(): Promise<RecurringJob[]>;
  /** Enqueues a job of it now, whatever its pause and overlap say, and leaves its schedule alone. `null`: there is none. */
  trigger(
    id: string,
    options?: ControlOptions<RecurringJob, TriggeredJob | null>,
  ): Promise<TriggeredJob | null>;
  /** Stops a recurring job from enqueueing jobs until it is resumed. */
  pause(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null>,
  ): Promise<RecurringJob | null>;
  /** It goes on with the next due time from now; those that passed meanwhile were not missed. */
  resume(
    id: string,
    options?: ControlOptions<RecurringJob, RecurringJob | null>,
  ): Promise<RecurringJob | null>;
  /**
   * Makes the recurring jobs of an application those that its code defines: adds, changes as {@link addOrUpdate} does and
   * removes, but touches nothing that is not the application's own.
   */
  synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<SynchronizationReport>;
  /**
   * Enqueues the jobs of at most `limit` recurring jobs that are due, each in one transaction with its next due time: however
   * many servers call this at once, a due time gets its job once.
   */
  fireDue(limit: number): Promise<FiringReport>;
}
