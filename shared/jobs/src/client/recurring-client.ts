import type { JobDefinition } from '../job/definition.js';
import {
  defineRecurringJob,
  type RecurringJob,
  type RecurringJobOptions,
} from '../recurring/recurring-job.js';
import { nextOccurrences } from '../recurring/schedule.js';
import type { RecurringJobs } from '../storage/recurring-jobs.js';
import type { EnqueuedJob } from './enqueue-options.js';

/** Manages recurring jobs. Every method may reject with a {@link StorageUnavailableError}. */
export class RecurringClient {
  readonly #store: RecurringJobs;

  constructor(store: RecurringJobs) {
    this.#store = store;
  }

  /**
   * Adds a recurring job, or updates the existing one with this id. If the existing one is paused, it stays paused. It
   * keeps its next due time unless its cron expression or time zone changes.
   *
   * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid
   * @throws {InvalidArgumentsError} if the arguments do not match the definition's schema
   * @throws {RecurringJobOwnedError} if an application defines the recurring job with this id in code
   */
  async addOrUpdate<Definition extends JobDefinition>(
    options: RecurringJobOptions<Definition>,
  ): Promise<RecurringJob> {
    return this.#store.addOrUpdate(defineRecurringJob(options));
  }

  /**
   * Removes a recurring job. Returns `false` if it does not exist. A recurring job that is defined in code is added
   * again when its application starts, so pause it instead.
   */
  remove(id: string): Promise<boolean> {
    return this.#store.remove(id);
  }

  find(id: string): Promise<RecurringJob | null> {
    return this.#store.find(id);
  }

  /** Lists all recurring jobs by id. */
  list(): Promise<RecurringJob[]> {
    return this.#store.list();
  }

  /** Enqueues a job of this recurring job now, without changing the schedule. Returns `null` if it does not exist. */
  async trigger(id: string): Promise<EnqueuedJob | null> {
    const job = await this.#store.trigger(id);
    return job === null ? null : { id: job.id, queue: job.queue, created: true };
  }

  /** Stops a recurring job from enqueueing jobs until it is resumed. Returns `null` if it does not exist. */
  pause(id: string): Promise<RecurringJob | null> {
    return this.#store.pause(id);
  }

  /** Resumes a recurring job at the first due time after now. Returns `null` if it does not exist. */
  resume(id: string): Promise<RecurringJob | null> {
    return this.#store.resume(id);
  }

  /**
   * Computes the next due times of any schedule, even one that no recurring job has.
   *
   * @param count 1 to 1000
   * @param after now by default
   * @throws {InvalidScheduleError} if the cron expression or the time zone is invalid
   */
  preview(schedule: { cron: string; timeZone?: string }, count: number, after?: Date): Date[] {
    return nextOccurrences(schedule, count, after);
  }
}
