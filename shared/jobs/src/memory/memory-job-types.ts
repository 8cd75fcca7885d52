import type { Clock } from '../storage/clock.js';
import type { JobTypeOptions, JobTypes, PausedType } from '../storage/job-types.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

/** Pauses job types in memory. */
export class MemoryJobTypes implements JobTypes {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #jobs: MemoryJobs;
  readonly #paused = new Map<string, Date>();

  constructor(clock: Clock, audit: MemoryAuditLog, jobs: MemoryJobs) {
    this.#clock = clock;
    this.#audit = audit;
    this.#jobs = jobs;
  }

  /** The names that no server may claim. */
  get paused(): Pick<ReadonlySet<string>, 'has' | 'size'> {
    return this.#paused;
  }

  async listPaused(): Promise<PausedType[]> {
    return Array.from(this.#paused, ([name, pausedAt]) => ({ name, pausedAt })).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    );
  }

  async pause(name: string, options: JobTypeOptions = {}): Promise<Date | null> {
    const before = this.#before(name, options);
    if (before === null) this.#paused.set(name, new Date(this.#clock.now()));
    return before;
  }

  async resume(name: string, options: JobTypeOptions = {}): Promise<Date | null> {
    const before = this.#before(name, options);
    this.#paused.delete(name);
    for (const queue of this.#jobs.queues.keys()) this.#jobs.notify(queue);
    return before;
  }

  #before(name: string, options: JobTypeOptions): Date | null {
    refuseTransaction(options.transaction);
    const before = this.#paused.get(name) ?? null;
    this.#audit.addOf(options, before);
    return before;
  }
}
