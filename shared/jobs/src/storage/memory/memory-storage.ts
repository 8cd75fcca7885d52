import { nearestDelay } from '../../job/bounds.js';
import { ServerLostError } from '../../job/errors.js';
import type { NewBatch } from '../../job/batch.js';
import type { Claim, ClaimedJob, Completion, NewJob, Outcome } from '../../job/job.js';
import type { JobReport } from '../job-reports.js';
import type { ServerRequest } from '../../job/server-state.js';
import type {
  ClaimRequest,
  JobStorage,
  PromotionReport,
  RescueReport,
  ServerDescription,
  ServerRegistration,
} from '../storage.js';
import type { Receipt } from '../receipt.js';
import { type RetentionDays, retentionOf } from '../retention.js';
import { QueueAlarms } from '../queue-alarms.js';
import type { TransactionClient } from '../transaction.js';
import { type Clock, systemClock } from '../clock.js';
import { refuseTransaction } from './refuse-transaction.js';
import { dueAt, endAttempt, holds, type JobRecord, letGo, toClaimedJob } from './job-record.js';
import { MemoryBulkOperations } from './memory-bulk.js';
import { keepReport } from './job-log.js';
import { MemoryAuditLog } from './memory-audit.js';
import { MemoryControl } from './memory-control.js';
import { MemoryFeed } from './memory-feed.js';
import type { MemoryRetention } from './memory-history.js';
import { MemoryJobs } from './memory-jobs.js';
import { MemoryRecurringJobs } from './memory-recurring.js';
import { MemoryServers } from './memory-servers.js';
import { aboutJob, MemorySetAside } from './memory-set-aside.js';
import { rescueJobs } from './memory-rescue.js';
import { MemoryStatistics } from './memory-statistics.js';

const hourMs = 3_600_000;

export interface MemoryStorageOptions {
  clock?: Clock;
  /** The oldest finished jobs beyond this many are forgotten, however young; 10 000 by default. */
  maxFinished?: number;
  /** The most queues there may be; 10 000 by default. */
  maxQueues?: number;
  /** How many days finished jobs are kept, by the state they ended in; 1 to 3650. By default 7 for `done` and `cancelled`, 30 for `failed`. */
  retentionDays?: Partial<RetentionDays>;
}

/** Keeps jobs in this process; they are lost when it ends. For a single process, for tests and for a first try. */
export class MemoryStorage extends MemoryControl implements JobStorage {
  readonly recurring: MemoryRecurringJobs;
  readonly feed: MemoryFeed;
  readonly bulk: MemoryBulkOperations;
  readonly audit = new MemoryAuditLog(this.clock);
  readonly statistics = new MemoryStatistics(this.jobs, this.clock);
  readonly setAside = new MemorySetAside(this.clock, (order) => void this.bulk.start(order));
  readonly #retention: MemoryRetention;
  #idleQueuesRetiredAt = -Infinity;
  readonly #alarms = new QueueAlarms((queue) => this.jobs.wake(queue));

  /** @throws {RangeError} if a number of days is out of its bounds */
  constructor({
    clock = systemClock,
    maxFinished = 10_000,
    maxQueues,
    retentionDays,
  }: MemoryStorageOptions = {}) {
    super(new MemoryJobs(clock, maxQueues), new MemoryServers(clock), clock);
    this.recurring = new MemoryRecurringJobs(this.jobs, clock, this.setAside);
    this.feed = new MemoryFeed(this.jobs, clock);
    this.bulk = new MemoryBulkOperations(this.jobs, this, clock, this.setAside);
    this.#retention = { maxFinished, days: retentionOf(retentionDays) };
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#alarms.close();
    this.servers.close();
  }

  async enqueue(job: NewJob): Promise<Receipt> {
    return this.jobs.add([job]);
  }

  async enqueueMany(jobs: readonly NewJob[], transaction?: TransactionClient): Promise<Receipt> {
    refuseTransaction(transaction);
    return this.jobs.add(jobs);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<Receipt> {
    refuseTransaction(transaction);
    return this.jobs.addBatch(batch);
  }

  async claim({ serverId, queue, limit, leaseMs }: ClaimRequest): Promise<ClaimedJob[]> {
    if (!this.servers.isAlive(serverId)) throw new ServerLostError(serverId);
    const { line, pausedAt, bucket, rateLimit } = this.jobs.queue(queue);
    if (pausedAt !== null) return [];
    const now = this.clock.now();
    const taken = line.take(this.#room(queue, limit), this.servers.jobNamesOf(serverId));
    if (rateLimit !== null) bucket.take(taken.length);
    return taken.map((record) => {
      record.serverId = serverId;
      record.attempt++;
      record.startedAt = new Date(now);
      record.progress = null;
      record.runs++;
      record.leaseUntil = now + leaseMs;
      this.jobs.start(record);
      return toClaimedJob(record, serverId);
    });
  }

  async renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const leaseUntil = this.clock.now() + leaseMs;
    return this.#eachHeld(claims, (record) => {
      record.leaseUntil = leaseUntil;
    });
  }

  async claimsOf(serverId: string, queue: string): Promise<Claim[]> {
    return [...this.jobs.all()]
      .filter(
        (record) => record.state === 'processing' && record.queue === queue && record.serverId === serverId,
      )
      .map(({ id: jobId, attempt }) => ({ jobId, queue, serverId, attempt }));
  }

  async release(claims: readonly Claim[]): Promise<Claim[]> {
    return this.#eachHeld(claims, (record) => {
      letGo(record);
      this.jobs.makeReady(record, 'released');
    });
  }

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const { claim, outcome } of completions) {
      const record = this.jobs.find(claim.jobId);
      if (holds(record, claim))
        this.setAside.attempt(aboutJob('completer', record), () => this.#record(record, outcome));
      else stale.push(claim);
    }
    return stale;
  }

  async report(reports: readonly JobReport[]): Promise<Claim[]> {
    const now = new Date(this.clock.now());
    return reports
      .filter((report) => !keepReport(this.jobs.find(report.claim.jobId), report, now))
      .map(({ claim }) => claim);
  }

  async completeWithin(): Promise<void> {
    throw new TypeError('Jobs in memory have no transactions: return the result instead');
  }

  async promoteDue(limit: number): Promise<PromotionReport> {
    const now = this.clock.now();
    const waiting = [...this.jobs.all()]
      .filter((record) => record.state === 'scheduled')
      .filter((record) => !this.setAside.isLeftAlone(aboutJob('scheduler', record)))
      .toSorted((left, right) => dueAt(left) - dueAt(right));
    const due = waiting.filter((record) => dueAt(record) <= now).slice(0, limit);
    const promoted = due.filter((record) =>
      this.setAside.attempt(aboutJob('scheduler', record), () => {
        this.jobs.makeReady(record, 'due');
        return true;
      }),
    );
    const next = waiting[due.length];
    return {
      promoted: promoted.length,
      nextDueMs: next === undefined ? null : Math.max(0, dueAt(next) - now),
    };
  }

  async settle(): Promise<number> {
    return 0; // what depends on a job moves with it
  }

  async rescue(): Promise<RescueReport> {
    return rescueJobs(this.jobs, this.servers, this.setAside, this.clock.now());
  }

  async maintain(): Promise<void> {
    this.setAside.attempt({ role: 'cleaner', key: 'retention' }, () => this.jobs.trim(this.#retention));
    await this.#retireIdleQueues();
  }

  onWakeUp(listener: (queue: string | null) => void): () => void {
    return this.jobs.listen(listener);
  }

  async registerServer(
    description: ServerDescription,
    onRequest: (request: ServerRequest) => void = () => undefined,
  ): Promise<ServerRegistration> {
    for (const queue of description.queues) this.jobs.queue(queue);
    return this.servers.register(description, onRequest, async () => {
      await this.rescue();
    });
  }

  /** Looks through all jobs, so once an hour is enough. */
  async #retireIdleQueues(): Promise<void> {
    const now = this.clock.now();
    if (now - this.#idleQueuesRetiredAt < hourMs) return;
    this.#idleQueuesRetiredAt = now;
    const recurring = await this.recurring.list();
    const served = this.servers.list().flatMap(({ queues }) => queues);
    this.jobs.retireIdleQueues(new Set([...served, ...recurring.map(({ queue }) => queue)]));
  }

  /** How many of the jobs asked for the queue's limits allow now. */
  #room(name: string, asked: number): number {
    const { line, concurrencyLimit, rateLimit, running, bucket } = this.jobs.queue(name);
    const room = Math.min(asked, line.length, Math.max(0, (concurrencyLimit ?? Infinity) - running));
    if (rateLimit === null || room === 0) return room;
    const tokens = bucket.available(rateLimit, this.clock.now());
    if (tokens < room) this.#alarms.set(name, bucket.nextInMs(rateLimit));
    return Math.min(room, tokens);
  }

  #record(record: JobRecord, outcome: Outcome): void {
    const now = this.clock.now();
    switch (outcome.kind) {
      case 'done':
        record.result = outcome.result;
        record.error = null;
        this.jobs.finish(record, 'done');
        break;
      case 'failed':
      case 'cancelled':
        record.error = outcome.error;
        this.jobs.finish(record, outcome.kind);
        break;
      case 'retry':
        endAttempt(record, 'failed', outcome.error, now);
        this.jobs.schedule(record, new Date(now + nearestDelay(outcome.delayMs)), 'failed');
        break;
      case 'snooze':
        letGo(record);
        this.jobs.schedule(record, new Date(now + nearestDelay(outcome.delayMs)), 'snoozed');
        break;
    }
  }

  /** Does something to each job whose claim holds; returns the claims that do not. */
  #eachHeld(claims: readonly Claim[], change: (record: JobRecord) => void): Claim[] {
    return claims.filter((claim) => {
      const record = this.jobs.find(claim.jobId);
      if (!holds(record, claim)) return true;
      change(record);
      return false;
    });
  }
}
