import { compareTexts } from '@longshore/edge';
import { readyIn, dueAt } from '../storage/notification.js';
import { checkPause, isPausedAt, isSamePause, pauseSince } from '../job/pause.js';
import type { Clock } from '../job/clock.js';
import type { JobTypeOptions, JobTypes, PausedType, PauseTypeOptions } from '../storage/job-control.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemoryJobTypes implements JobTypes {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #jobs: MemoryJobs;
  /** Pauses by job name, including expired ones that have not been removed yet. */
  readonly #pauses = new Map<string, PausedType>();

  constructor(clock: Clock, audit: MemoryAuditLog, jobs: MemoryJobs) {
    this.#clock = clock;
    this.#audit = audit;
    this.#jobs = jobs;
  }

  get all(): readonly PausedType[] {
    return [...this.#pauses.values()];
  }

  /** Returns the names of the job types that are paused now. Jobs of these types cannot be claimed. */
  paused(): ReadonlySet<string> {
    if (this.#pauses.size === 0) return none;
    const now = this.#clock.now();
    return new Set(this.all.filter((pause) => isPausedAt(pause, now)).map(({ name }) => name));
  }

  async listPaused(): Promise<PausedType[]> {
    const paused = this.paused();
    return this.all
      .filter(({ name }) => paused.has(name))
      .toSorted((one, other) => compareTexts(one.name, other.name));
  }

  async pause(name: string, options: PauseTypeOptions = {}): Promise<PausedType | null> {
    const now = this.#clock.now();
    const pause = checkPause(options, now);
    const before = this.#before(name, options);
    if (before !== null && isSamePause(before, pause)) return before;
    this.#pauses.set(name, { name, ...pauseSince(new Date(now), pause) });
    this.#jobs.notify(dueAt('pause', pause.until, now));
    return before;
  }

  async resume(name: string, options: JobTypeOptions = {}): Promise<PausedType | null> {
    const before = this.#before(name, options);
    this.unpause(name);
    return before;
  }

  /** Ends the pause of a job type, if any, and notifies servers. Does not write to the audit log. */
  unpause(name: string): void {
    this.#pauses.delete(name);
    for (const queue of this.#jobs.queues.keys()) this.#jobs.notify(readyIn(queue));
  }

  #before(name: string, options: JobTypeOptions): PausedType | null {
    refuseTransaction(options.transaction);
    const pause = this.#pauses.get(name);
    const before = pause !== undefined && isPausedAt(pause, this.#clock.now()) ? pause : null;
    this.#audit.addOf(options, before);
    return before;
  }
}

const none: ReadonlySet<string> = new Set();
