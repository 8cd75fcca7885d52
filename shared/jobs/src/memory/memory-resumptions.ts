import { readyIn } from '../storage/notification.js';
import {
  automaticFilter,
  automaticActor,
  isPausedAt,
  notPaused,
  type Pausable,
  resumeActionOf,
} from '../job/pause.js';
import type { Clock } from '../job/clock.js';
import type { ResumptionReport } from '../storage/maintenance.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryJobTypes } from './memory-job-types.js';
import type { MemoryRecurringJobs } from './memory-recurring.js';
import type { MemorySetAside } from './memory-set-aside.js';

interface ResumptionParts {
  readonly jobs: MemoryJobs;
  readonly jobTypes: MemoryJobTypes;
  readonly recurring: MemoryRecurringJobs;
  readonly audit: MemoryAuditLog;
  readonly setAside: MemorySetAside;
  readonly clock: Clock;
}

/** Resumes queues, job types and recurring jobs when their pauses expire. */
export class MemoryResumptions {
  readonly #parts: ResumptionParts;

  constructor(parts: ResumptionParts) {
    this.#parts = parts;
  }

  async resumeDue(): Promise<ResumptionReport> {
    const { jobs, jobTypes, recurring, clock } = this.#parts;
    const now = clock.now();
    let resumed = 0;
    const attempt = (kind: Pausable, name: string, resume: () => void): void => {
      if (this.#attempt(kind, name, resume)) resumed++;
    };
    for (const [name, queue] of jobs.queues) {
      if (queue.pause.pausedAt === null || isPausedAt(queue.pause, now)) continue;
      attempt('queue', name, () => {
        queue.pause = notPaused;
        jobs.notify(readyIn(name));
      });
    }
    for (const pause of jobTypes.all)
      if (!isPausedAt(pause, now)) attempt('type', pause.name, () => jobTypes.unpause(pause.name));
    recurring.resumeDue(now, (id, resume) => attempt('recurring', id, resume));
    return { resumed, nextDueMs: await this.#nextDueMs(now) };
  }

  #attempt(kind: Pausable, name: string, resume: () => void): boolean {
    const { setAside, audit } = this.#parts;
    const done = setAside.attempt({ role: 'resumer', key: `${kind} ${name}` }, () => {
      audit.add({
        who: automaticActor,
        action: resumeActionOf(kind),
        target: name,
        filter: automaticFilter,
        count: 1,
      });
      resume();
      return true;
    });
    return done === true;
  }

  async #nextDueMs(now: number): Promise<number | null> {
    const { jobs, jobTypes, recurring } = this.#parts;
    const pauses = [
      ...Array.from(jobs.queues.values(), ({ pause }) => pause),
      ...jobTypes.all,
      ...recurring.all,
    ];
    // Ignores end times in the past. Their pauses could not be ended and were set aside.
    const ends = pauses.flatMap(({ pausedUntil }) => pausedUntil?.getTime() ?? []).filter((end) => end > now);
    return ends.length === 0 ? null : ends.reduce((least, end) => Math.min(least, end)) - now;
  }
}
