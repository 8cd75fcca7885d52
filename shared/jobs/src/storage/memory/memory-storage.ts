import { ServerLostError } from '../../job/errors.js';
import type { Claim, ClaimedJob, Completion, JsonValue, NewJob } from '../../job/job.js';
import type {
  ClaimRequest,
  JobStorage,
  PromotionReport,
  RescueReport,
  ServerDescription,
  ServerRegistration,
} from '../storage.js';
import { type Clock, systemClock } from './clock.js';
import { endAttempt, holds, type JobRecord, newRecord } from './job-record.js';
import { MemoryReader } from './memory-reader.js';
import { MemoryServers } from './memory-servers.js';
import { ReadyLine } from './ready-line.js';

export interface MemoryStorageOptions {
  clock?: Clock;
  /** The oldest finished jobs beyond this many are forgotten; 10 000 by default. */
  maxFinished?: number;
}

type WakeUpListener = (queue: string | null) => void;

/** Keeps jobs in this process; they are lost when it ends. For a single process, for tests and for a first try. */
export class MemoryStorage extends MemoryReader implements JobStorage {
  readonly #clock: Clock;
  readonly #maxFinished: number;
  readonly #jobs: Map<string, JobRecord>;
  readonly #servers: MemoryServers;
  readonly #lines = new Map<string, ReadyLine>();
  readonly #listeners = new Set<WakeUpListener>();
  /** Ids of finished jobs, the oldest first. */
  #finished: string[] = [];
  #seq = 0;

  constructor(options: MemoryStorageOptions = {}) {
    const clock = options.clock ?? systemClock;
    const jobs = new Map<string, JobRecord>();
    const servers = new MemoryServers(clock);
    super(jobs, servers, clock);
    this.#clock = clock;
    this.#jobs = jobs;
    this.#servers = servers;
    this.#maxFinished = options.maxFinished ?? 10_000;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#servers.close();
    this.#listeners.clear();
  }

  async enqueue(job: NewJob): Promise<void> {
    await this.enqueueMany([job]);
  }

  async enqueueMany(jobs: readonly NewJob[]): Promise<void> {
    const ids = new Set<string>();
    for (const { id } of jobs) {
      if (this.#jobs.has(id) || ids.has(id)) throw new Error(`There is a job ${id} already`);
      ids.add(id);
    }
    const now = this.#clock.now();
    for (const job of jobs) {
      const record = newRecord(job, this.#seq++, now);
      this.#jobs.set(record.id, record);
      this.noteQueue(record.queue);
      if (record.state === 'enqueued') this.#line(record.queue).add(record);
      this.#wake(record.state === 'enqueued' ? record.queue : null);
    }
  }

  async claim({ serverId, queue, limit, leaseMs }: ClaimRequest): Promise<ClaimedJob[]> {
    if (!this.#servers.isAlive(serverId)) throw new ServerLostError(serverId);
    this.noteQueue(queue);
    const now = this.#clock.now();
    return this.#line(queue)
      .take(limit)
      .map((record) => {
        record.state = 'processing';
        record.serverId = serverId;
        record.attempt++;
        record.startedAt = new Date(now);
        record.leaseUntil = now + leaseMs;
        return toClaimedJob(record, serverId);
      });
  }

  async renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const leaseUntil = this.#clock.now() + leaseMs;
    return this.#eachHeld(claims, (record) => {
      record.leaseUntil = leaseUntil;
    });
  }

  async release(claims: readonly Claim[]): Promise<Claim[]> {
    return this.#eachHeld(claims, (record) => {
      record.attempt--;
      record.serverId = null;
      record.startedAt = null;
      this.#makeReady(record);
    });
  }

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    const now = this.#clock.now();
    const stale: Claim[] = [];
    for (const { claim, outcome } of completions) {
      const record = this.#jobs.get(claim.jobId);
      if (!holds(record, claim)) {
        stale.push(claim);
      } else if (outcome.kind === 'retry') {
        endAttempt(record, 'failed', outcome.error, now);
        record.state = 'scheduled';
        record.runAt = new Date(now + outcome.delayMs);
        this.#wake(null);
      } else {
        record.result = outcome.kind === 'done' ? outcome.result : 'null';
        record.error = outcome.kind === 'done' ? null : outcome.error;
        this.#finish(record, outcome.kind, now);
      }
    }
    return stale;
  }

  async promoteDue(limit: number): Promise<PromotionReport> {
    const now = this.#clock.now();
    const waiting = [...this.#jobs.values()]
      .filter((record) => record.state === 'scheduled')
      .toSorted((left, right) => dueAt(left) - dueAt(right));
    const due = waiting.filter((record) => dueAt(record) <= now).slice(0, limit);
    for (const record of due) this.#makeReady(record);
    const next = waiting[due.length];
    return { promoted: due.length, nextDueMs: next === undefined ? null : Math.max(0, dueAt(next) - now) };
  }

  async rescue(): Promise<RescueReport> {
    const now = this.#clock.now();
    const deadServers = this.#servers.bury();
    const report = { deadServers, released: 0, failed: 0 };
    for (const record of this.#jobs.values()) {
      if (record.state !== 'processing' || record.serverId === null) continue;
      if (record.leaseUntil >= now && this.#servers.isAlive(record.serverId)) continue;
      if (record.attempt < record.maxAttempts) {
        endAttempt(record, 'lost', lostError(record), now);
        this.#makeReady(record);
        report.released++;
      } else {
        record.error = lostError(record);
        this.#finish(record, 'failed', now);
        report.failed++;
      }
    }
    return report;
  }

  async maintain(): Promise<void> {
    const excess = this.#finished.length - this.#maxFinished;
    if (excess > 0) for (const id of this.#finished.splice(0, excess)) this.#jobs.delete(id);
  }

  onWakeUp(listener: WakeUpListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async registerServer(description: ServerDescription): Promise<ServerRegistration> {
    for (const queue of description.queues) this.noteQueue(queue);
    return this.#servers.register(description, async () => {
      await this.rescue();
    });
  }

  #makeReady(record: JobRecord): void {
    record.state = 'enqueued';
    record.readyAt = this.#clock.now();
    this.#line(record.queue).add(record);
    this.#wake(record.queue);
  }

  #finish(record: JobRecord, state: 'done' | 'failed', nowMs: number): void {
    record.state = state;
    record.finishedAt = new Date(nowMs);
    this.#finished.push(record.id);
  }

  /** Does something to each job whose claim holds; returns the claims that do not. */
  #eachHeld(claims: readonly Claim[], change: (record: JobRecord) => void): Claim[] {
    return claims.filter((claim) => {
      const record = this.#jobs.get(claim.jobId);
      if (!holds(record, claim)) return true;
      change(record);
      return false;
    });
  }

  #line(queue: string): ReadyLine {
    let line = this.#lines.get(queue);
    if (line === undefined) this.#lines.set(queue, (line = new ReadyLine()));
    return line;
  }

  #wake(queue: string | null): void {
    for (const listener of this.#listeners) listener(queue);
  }
}

function toClaimedJob(record: JobRecord, serverId: string): ClaimedJob {
  const { id: jobId, queue, attempt, name, priority, args, maxAttempts, createdAt } = record;
  return {
    claim: { jobId, queue, serverId, attempt },
    name,
    priority,
    args: JSON.parse(args) as JsonValue,
    maxAttempts,
    createdAt,
  };
}

function dueAt({ runAt }: JobRecord): number {
  return runAt?.getTime() ?? 0;
}

function lostError({ serverId, attempt }: JobRecord): { name: string; message: string; stack: null } {
  const message = `Server ${serverId} died or stopped renewing its lease while it ran attempt ${attempt}`;
  return { name: 'AttemptLost', message, stack: null };
}
