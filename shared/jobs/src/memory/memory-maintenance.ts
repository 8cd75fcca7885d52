import type { Clock } from '../job/clock.js';
import type { Maintenance, PromotionReport, RescueReport, ResumptionReport } from '../storage/maintenance.js';
import { endAttempt, type JobRecord, lostError, undoStart } from './job-record.js';
import type { MemoryRetention } from './memory-history.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';
import type { MemoryTimings } from './memory-timings.js';
import { itemOfJob, type MemorySetAside } from './memory-set-aside.js';
import { byRunOrder } from './ready-queue.js';
import { readyIn } from '../storage/notification.js';
import {
  automaticFilter,
  automaticActor,
  isPausedAt,
  notPaused,
  type Pausable,
  resumeActionOf,
} from '../job/pause.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobTypes } from './memory-control.js';
import type { MemoryRecurringJobs } from './memory-recurring.js';

const hourMs = 3_600_000;

interface MaintenanceParts {
  readonly jobs: MemoryJobs;
  readonly servers: MemoryServers;
  readonly setAside: MemorySetAside;
  readonly clock: Clock;
  readonly retention: MemoryRetention;
  readonly timings: MemoryTimings;
  readonly resumptions: MemoryResumptions;
  /** Returns the queues of all recurring jobs. Maintenance never deletes these queues. */
  readonly recurringQueues: () => Promise<string[]>;
}

export class MemoryMaintenance implements Maintenance {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #setAside: MemorySetAside;
  readonly #clock: Clock;
  readonly #retention: MemoryRetention;
  readonly #timings: MemoryTimings;
  readonly #resumptions: MemoryResumptions;
  readonly #recurringQueues: () => Promise<string[]>;
  #idleQueuesRetiredAt = -Infinity;

  constructor(parts: MaintenanceParts) {
    const { jobs, servers, setAside, clock, retention, timings, resumptions, recurringQueues } = parts;
    this.#jobs = jobs;
    this.#servers = servers;
    this.#setAside = setAside;
    this.#clock = clock;
    this.#retention = retention;
    this.#timings = timings;
    this.#resumptions = resumptions;
    this.#recurringQueues = recurringQueues;
  }

  async promoteDue(limit: number): Promise<PromotionReport> {
    const now = this.#clock.now();
    const waiting = [...this.#jobs.all()]
      .filter((record) => record.state === 'scheduled')
      .filter((record) => !this.#setAside.isSetAside(itemOfJob('scheduler', record)))
      .toSorted((left, right) => runAtOf(left) - runAtOf(right));
    const due = waiting.filter((record) => runAtOf(record) <= now).slice(0, limit);
    const promoted = due.filter((record) =>
      this.#setAside.attempt(itemOfJob('scheduler', record), () => {
        this.#jobs.makeReady(record, 'due');
        return true;
      }),
    );
    const next = waiting[due.length];
    this.#jobs.wakeKeys();
    const tokensAtMs = [...this.#jobs.queues.values()].flatMap(({ keys }) => keys.wakeAtMs ?? []);
    const nextAtMs = Math.min(next === undefined ? Infinity : runAtOf(next), ...tokensAtMs);
    return {
      promoted: promoted.length,
      nextDueMs: nextAtMs === Infinity ? null : Math.max(0, nextAtMs - now),
    };
  }

  resumeDue(): Promise<ResumptionReport> {
    return this.#resumptions.resumeDue();
  }

  async resolveDependencies(): Promise<number> {
    return 0; // dependents are updated as soon as a job ends
  }

  async rescue(): Promise<RescueReport> {
    const now = this.#clock.now();
    const report = { deadServers: this.#servers.declareDead(), released: 0, failed: 0 };
    const lost = [...this.#jobs.all()].filter(
      ({ state, locked, serverId, leaseUntil }) =>
        state === 'processing' && !locked && (leaseUntil < now || !this.#servers.isAlive(serverId ?? '')),
    );
    for (const { record, started } of inClaimOrder(lost, this.#servers)) {
      const { serverId } = record;
      const counts = started || record.attempt >= record.maxAttempts;
      const end = this.#setAside.attempt(itemOfJob('rescuer', record), () =>
        reclaim(this.#jobs, record, started, now),
      );
      if (end === undefined) continue;
      if (end !== 'cancelled') report[end]++;
      if (counts) this.#servers.countReclaimed(serverId);
    }
    return report;
  }

  async maintain(): Promise<boolean> {
    this.#setAside.attempt({ role: 'cleaner', key: 'retention' }, () => this.#jobs.trim(this.#retention));
    this.#timings.store();
    await this.#retireIdleQueues();
    return true;
  }

  /** Deletes queues unused for `idleQueueDays` days. Runs at most once an hour, because each run scans all jobs. */
  async #retireIdleQueues(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#idleQueuesRetiredAt < hourMs) return;
    this.#idleQueuesRetiredAt = now;
    const served = this.#servers.all().flatMap(({ queues }) => queues);
    this.#jobs.retireIdleQueues(new Set([...served, ...(await this.#recurringQueues())]));
  }
}

/**
 * Sorts lost jobs by time of claim and marks the jobs that may have been started. A server starts jobs in this order
 * and runs at most `concurrency` at once, so only the first `concurrency` of its lost jobs can have been started.
 */
function inClaimOrder(
  lost: readonly JobRecord[],
  servers: MemoryServers,
): { record: JobRecord; started: boolean }[] {
  const ranks = new Map<string | null, number>();
  return lost
    .toSorted(
      (one, other) =>
        (one.startedAt?.getTime() ?? 0) - (other.startedAt?.getTime() ?? 0) || byRunOrder(one, other),
    )
    .map((record) => {
      const rank = (ranks.get(record.serverId) ?? 0) + 1;
      ranks.set(record.serverId, rank);
      return { record, started: rank <= servers.concurrencyOf(record.serverId) };
    });
}

function reclaim(
  jobs: MemoryJobs,
  record: JobRecord,
  started: boolean,
  now: number,
): 'released' | 'failed' | 'cancelled' {
  if (record.cancelRequestedAt !== null || record.attempt >= record.maxAttempts) {
    const end = record.cancelRequestedAt !== null ? 'cancelled' : 'failed';
    record.error = lostError(record);
    jobs.finish(record, end);
    return end;
  }
  if (!started) {
    undoStart(record);
    jobs.makeReady(record, 'released');
    return 'released';
  }
  endAttempt(record, 'lost', lostError(record), now);
  jobs.makeReady(record, 'lost');
  return 'released';
}

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
        jobs.notifications.notify(readyIn(name));
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

function runAtOf({ runAt }: JobRecord): number {
  return runAt?.getTime() ?? 0;
}
