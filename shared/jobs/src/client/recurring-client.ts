import type { JobDefinition } from '../job/definition.js';
import { DuplicateJobError } from '../job/errors.js';
import {
  defineRecurringJob,
  type RecurringJob,
  type RecurringJobOptions,
} from '../recurring/recurring-job.js';
import { nextOccurrences, type ScheduleOptions } from '../recurring/schedule.js';
import type { RecurringJobs } from '../storage/recurring-jobs.js';
import type { EnqueuedJob } from './enqueue-options.js';

/** Manages recurring jobs. All methods except `preview` can reject with a {@link StorageUnavailableError}. */
export class RecurringClient {
  readonly #store: RecurringJobs;

  constructor(store: RecurringJobs) {
    this.#store = store;
  }

  /**
   * Adds a recurring job, or updates the existing one with this id. A paused recurring job stays paused. The next due
   * time changes only if the schedule changes: `cron`, `timeZone`, `every` or `anchor`.
   *
   * @throws {InvalidScheduleError} if not exactly one of `cron` and `every` is set, or if a value is invalid
   * @throws {InvalidArgumentsError} if the arguments do not match the definition's schema
   * @throws {RangeError} if another option is out of bounds
   * @throws {RecurringJobOwnedError} if an application defines the recurring job with this id in code
   */
  async addOrUpdate<Definition extends JobDefinition>(
    options: RecurringJobOptions<Definition>,
  ): Promise<RecurringJob> {
    return this.#store.addOrUpdate(defineRecurringJob(options));
  }

  /**
   * Removes a recurring job. Returns `false` if it does not exist. If an application defines the recurring job in code,
   * pause it instead, because it is added again when the application starts.
   */
  remove(id: string): Promise<boolean> {
    return this.#store.remove(id);
  }

  find(id: string): Promise<RecurringJob | null> {
    return this.#store.find(id);
  }

  /** Lists all recurring jobs, sorted by id. */
  list(): Promise<RecurringJob[]> {
    return this.#store.list();
  }

  /**
   * Enqueues a job now, even if the recurring job is paused, without changing its schedule. If another job holds its unique
   * key, returns that job with `created: false`. Returns `null` if the recurring job does not exist.
   *
   * @throws {DuplicateJobError} if another job holds the unique key and `onConflict` is `reject`
   */
  async trigger(id: string): Promise<EnqueuedJob | null> {
    const job = await this.#store.trigger(id);
    if (job === null) return null;
    const { id: jobId, queue, created, recurringJob } = job;
    const { unique } = recurringJob;
    if (!created && unique?.onConflict === 'reject') throw new DuplicateJobError(unique.key, jobId);
    return { id: jobId, queue, created };
  }

  /** Suspends a recurring job's schedule until the job is resumed. Returns `null` if the job does not exist. */
  pause(id: string): Promise<RecurringJob | null> {
    return this.#store.pause(id);
  }

  /**
   * Resumes a recurring job's schedule. Due times during the pause are skipped. Returns `null` if the recurring job
   * does not exist.
   */
  resume(id: string): Promise<RecurringJob | null> {
    return this.#store.resume(id);
  }

  /**
   * Returns the next due times of a schedule, without storing anything. Returns fewer than `count` if there are no more
   * until the year 9999, or none within 50 years.
   *
   * @param count 1 to 1000
   * @param after the time after which to start; now by default
   * @throws {InvalidScheduleError} if not exactly one of `cron` and `every` is set, or if a value is invalid
   * @throws {RangeError} if `count` is out of bounds
   */
  preview(schedule: ScheduleOptions, count: number, after?: Date): Date[] {
    return nextOccurrences(schedule, count, after);
  }
}
