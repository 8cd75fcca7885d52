import { QueuePollTimers, readyIn } from '../storage/notification.js';
import { ServerLostError } from '../job/errors.js';
import type { Claim, ClaimedJob } from '../job/job.js';
import { isPausedAt } from '../job/pause.js';
import type { ClaimRequest, Claims } from '../storage/claims.js';
import type { Clock } from '../job/clock.js';
import { hasLease, toClaimedJob, undoStart } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryJobTypes } from './memory-job-types.js';
import type { MemoryServers } from './memory-servers.js';

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
    this.#pollTimers = new QueuePollTimers((queue) => jobs.notify(readyIn(queue)));
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
