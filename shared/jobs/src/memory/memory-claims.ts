import { QueuePollTimers, readyIn } from '../storage/notification.js';
import { ClaimLostError, ServerLostError } from '../job/errors.js';
import type { Claim, ClaimedJob, Completion, Job, Outcome } from '../job/job.js';
import { isPausedAt } from '../job/pause.js';
import {
  type ClaimRequest,
  type Claims,
  type Completions,
  type Lease,
  type Leases,
  outcomeIfCancelled,
  type StalledLeaseQuery,
} from '../storage/claims.js';
import type { Clock } from '../job/clock.js';
import { endAttempt, hasLease, type JobRecord, toClaimedJob, undoStart } from './job-record.js';
import { hasAwaited, withoutAwaits } from './memory-steps.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryJobTypes } from './memory-control.js';
import type { MemoryServers } from './memory-servers.js';
import { clampDelay } from '../job/bounds.js';
import type { TransactionClient, TransactionWork } from '../storage/transaction.js';
import { itemOfJob, type MemorySetAside } from './memory-set-aside.js';

export class MemoryClaims implements Claims {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #jobTypes: MemoryJobTypes;
  readonly #clock: Clock;
  readonly #pollTimers: QueuePollTimers;

  constructor(jobs: MemoryJobs, servers: MemoryServers, jobTypes: MemoryJobTypes, clock: Clock) {
    this.#jobTypes = jobTypes;
    this.#jobs = jobs;
    this.#servers = servers;
    this.#clock = clock;
    this.#pollTimers = new QueuePollTimers((queue) => jobs.notifications.notify(readyIn(queue)));
  }

  async findReady(serverId: string, queues: readonly string[]): Promise<string[]> {
    this.#jobs.requireOpen();
    if (!this.#servers.isAlive(serverId)) throw new ServerLostError(serverId);
    const isWanted = this.#claimable(serverId);
    return queues.filter((queue) => this.#jobs.queue(queue).ready.has(isWanted));
  }

  async claim({ serverId, queue, limit, leaseMs }: ClaimRequest): Promise<ClaimedJob[]> {
    if (!this.#servers.isAlive(serverId)) throw new ServerLostError(serverId);
    const { ready, pause, bucket, rateLimit } = this.#jobs.queue(queue);
    const now = this.#clock.now();
    if (isPausedAt(pause, now)) return [];
    const taken = ready.take(this.#room(queue, limit), this.#claimable(serverId));
    if (rateLimit !== null) bucket.take(taken.length);
    return taken.map((record) => {
      record.serverId = serverId;
      record.attempt++;
      record.startedAt = new Date(now);
      record.progress = null;
      record.runs++;
      record.leaseUntil = now + leaseMs;
      this.#jobs.start(record);
      return toClaimedJob(record, serverId);
    });
  }

  /**
   * Returns a function that decides by a job's name whether the server can claim the job; `null` if the server can
   * claim all jobs.
   */
  #claimable(serverId: string): ((name: string) => boolean) | null {
    const names = this.#servers.jobNamesOf(serverId);
    const paused = this.#jobTypes.paused();
    if (names === null) return paused.size === 0 ? null : (name) => !paused.has(name);
    const handled = new Set(names);
    return (name) => handled.has(name) && !paused.has(name);
  }

  async renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const leaseUntil = this.#clock.now() + leaseMs;
    return claims.filter((claim) => {
      const record = this.#jobs.find(claim.jobId);
      if (!hasLease(record, claim)) return true;
      if (!record.locked) record.leaseUntil = leaseUntil;
      return false;
    });
  }

  async release(claims: readonly Claim[]): Promise<Claim[]> {
    return claims.filter((claim) => {
      const record = this.#jobs.find(claim.jobId);
      if (!hasLease(record, claim) || record.locked) return true;
      undoStart(record);
      this.#jobs.makeReady(record, 'released');
      return false;
    });
  }

  async claimsOf(serverId: string, queue: string): Promise<Claim[]> {
    return [...this.#jobs.all()]
      .filter(
        (record) => record.state === 'processing' && record.queue === queue && record.serverId === serverId,
      )
      .map(({ id: jobId, attempt }) => ({ jobId, queue, serverId, attempt }));
  }

  close(): void {
    this.#pollTimers.close();
  }

  /**
   * Returns the maximum number of jobs to claim now. Respects `requested`, the number of ready jobs, and the queue's
   * concurrency and rate limits. If the rate limit lowers the number, schedules a notification for the time of the next
   * token.
   */
  #room(name: string, requested: number): number {
    const { ready, concurrencyLimit, rateLimit, running, bucket } = this.#jobs.queue(name);
    const room = Math.min(requested, ready.length, Math.max(0, (concurrencyLimit ?? Infinity) - running));
    if (rateLimit === null || room === 0) return room;
    const tokens = bucket.available(rateLimit, this.#clock.now());
    if (tokens < room) this.#pollTimers.set(name, bucket.nextInMs(rateLimit));
    return Math.min(room, tokens);
  }
}

/** Reads the leases on running jobs. */
export class MemoryLeases implements Leases {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, servers: MemoryServers, clock: Clock) {
    this.#jobs = jobs;
    this.#servers = servers;
    this.#clock = clock;
  }

  async find({ id }: Pick<Job, 'id'>): Promise<Lease | null> {
    const record = this.#jobs.find(id);
    return record === undefined ? null : leaseOn(record);
  }

  async listStalled({ expiredForMs, limit }: StalledLeaseQuery): Promise<Lease[]> {
    const before = this.#clock.now() - expiredForMs;
    return [...this.#jobs.all()]
      .flatMap((record) => leaseOn(record) ?? [])
      .filter(
        ({ serverId, expiresAt, locked }) =>
          !locked && expiresAt.getTime() < before && this.#servers.isAlive(serverId),
      )
      .toSorted((one, other) => one.expiresAt.getTime() - other.expiresAt.getTime())
      .slice(0, limit);
  }
}

function leaseOn({ state, id, queue, serverId, attempt, leaseUntil, locked }: JobRecord): Lease | null {
  if (state !== 'processing' || serverId === null) return null;
  return { jobId: id, queue, serverId, attempt, expiresAt: new Date(leaseUntil), locked };
}

/** Runs `work` in a database transaction. Commits if `work` succeeds. Rolls back if it throws. */
export type BeginTransaction = <Result>(
  work: (client: TransactionClient) => Promise<Result>,
) => Promise<Result>;

export class MemoryCompletions implements Completions {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #setAside: MemorySetAside;
  readonly #begin: BeginTransaction | undefined;

  constructor(jobs: MemoryJobs, clock: Clock, setAside: MemorySetAside, begin: BeginTransaction | undefined) {
    this.#begin = begin;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#setAside = setAside;
  }

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const { claim, outcome } of completions) {
      const record = this.#jobs.find(claim.jobId);
      if (hasLease(record, claim) && !record.locked)
        this.#setAside.attempt(itemOfJob('completer', record), () => this.#record(record, outcome));
      else stale.push(claim);
    }
    return stale;
  }

  /**
   * Runs the work in a transaction and marks the job as done right after the commit. The job is locked until then, so the
   * lease cannot be lost during the commit. A crash between the two steps is harmless if the database also lives in this
   * process, because the crash loses both the database and the jobs.
   *
   * @throws {TypeError} if the storage has no `transaction` option
   * @throws {ClaimLostError} if the claim has lost the lease
   */
  async completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void> {
    await this.inTransaction(claim, work, signal, (record, result) =>
      this.#record(record, { kind: 'done', result }),
    );
  }

  /**
   * Runs the work of an attempt in a transaction, and `store` right after the commit, in the same way as
   * {@link completeInTransaction}.
   */
  async inTransaction<Result>(
    claim: Claim,
    work: (client: TransactionClient) => Promise<Result>,
    signal: AbortSignal | undefined,
    store: (record: JobRecord, result: Result) => void,
  ): Promise<void> {
    if (this.#begin === undefined)
      throw new TypeError('The memory storage has no transactions: return the result instead');
    const record = this.#jobs.find(claim.jobId);
    for (let open = record?.transaction; open !== null && open !== undefined; open = record?.transaction)
      await open;
    if (!hasLease(record, claim)) throw new ClaimLostError(claim.jobId);
    signal?.throwIfAborted();
    let abort: () => void = () => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal?.reason as Error);
    });
    signal?.addEventListener('abort', abort, { once: true });
    aborted.catch(() => undefined); // prevents an unhandled rejection if the abort comes before the race below
    let unlock: () => void = () => undefined;
    record.transaction = new Promise((resolve) => (unlock = resolve));
    record.locked = true;
    try {
      const result = await this.#begin((client) => Promise.race([work(client), aborted]));
      store(record, result);
    } finally {
      signal?.removeEventListener('abort', abort);
      record.locked = false;
      record.transaction = null;
      unlock();
    }
  }

  #record(record: JobRecord, reportedOutcome: Outcome): void {
    const now = this.#clock.now();
    const outcome = record.cancelRequestedAt !== null ? outcomeIfCancelled(reportedOutcome) : reportedOutcome;
    switch (outcome.kind) {
      case 'done':
        record.result = outcome.result;
        record.error = null;
        this.#jobs.finish(record, 'done');
        break;
      case 'failed':
      case 'cancelled':
        record.error = outcome.error;
        this.#jobs.finish(record, outcome.kind);
        break;
      case 'suspend':
        undoStart(record);
        record.meta = { ...record.meta, awaits: outcome.awaits, cancels: outcome.cancels };
        this.#jobs.schedule(record, hasAwaited(record) ? new Date(now) : outcome.until, 'suspended');
        break;
      case 'retry':
        record.meta = withoutAwaits(record.meta);
        endAttempt(record, 'failed', outcome.error, now);
        this.#jobs.schedule(record, new Date(now + clampDelay(outcome.delayMs)), 'failed');
        break;
      case 'snooze':
        record.meta = withoutAwaits(record.meta);
        undoStart(record);
        this.#jobs.schedule(record, new Date(now + clampDelay(outcome.delayMs)), 'snoozed');
        break;
    }
  }
}
