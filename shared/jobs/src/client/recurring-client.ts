import {
  defineRecurringJob,
  type RecurringJob,
  type RecurringJobOptions,
} from '../recurring/recurring-job.js';
import { nextOccurrences } from '../recurring/schedule.js';
import type { RecurringJobs } from '../storage/recurring-jobs.js';
import type { EnqueuedJob } from './enqueue-options.js';

/** What operators do with recurring jobs. Each method rejects with a {@link StorageUnavailableError} as the storage does. */
export class RecurringClient {
  readonly #store: RecurringJobs;

  constructor(store: RecurringJobs) {
    this.#store = store;
  }

  /**
   * Stores a recurring job. One that is there already is changed: it keeps its pause, and unless cron or time zone are
   * new, its next due time.
   *
   * @throws {InvalidScheduleError} if the cron expression or the time zone cannot be used
   * @throws {InvalidArgumentsError} if the arguments do not fit the definition
   * @throws {RecurringJobOwnedError} if the code of an application defines it
   */
  async addOrUpdate<Args>(options: RecurringJobOptions<Args>): Promise<RecurringJob> {
    return this.#store.addOrUpdate(defineRecurringJob(options));
  }

  /** `false`: there is none. One that code defines comes back when its application starts: pause it instead. */
  remove(id: string): Promise<boolean> {
    return this.#store.remove(id);
  }

  find(id: string): Promise<RecurringJob | null> {
    return this.#store.find(id);
  }

  /** All of them, by id. */
  list(): Promise<RecurringJob[]> {
    return this.#store.list();
  }

  /** Enqueues a job of it now and leaves its schedule alone. `null`: there is none. */
  async trigger(id: string): Promise<EnqueuedJob | null> {
    const job = await this.#store.trigger(id);
    return job === null ? null : { id: job.id, queue: job.queue, created: true };
  }

  /** It enqueues nothing until it is resumed. `null`: there is none. */
  pause(id: string): Promise<RecurringJob | null> {
    return this.#store.pause(id);
  }

  /** It goes on with the next due time from now. `null`: there is none. */
  resume(id: string): Promise<RecurringJob | null> {
    return this.#store.resume(id);
  }

  /**
   * The next due times of a schedule, stored or not.
   *
   * @param count 1 to 1000
   * @param after now, unless given
   * @throws {InvalidScheduleError} if the cron expression or the time zone cannot be used
   */
  preview(schedule: { cron: string; timeZone?: string }, count: number, after?: Date): Date[] {
    return nextOccurrences(schedule, count, after);
  }
}
