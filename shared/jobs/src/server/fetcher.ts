import type { Claim, ClaimedJob } from '../job/job.js';
import type { Claims } from '../storage/claims.js';
import type { QueueOrder } from './queue-order.js';

/** Maximum number of jobs per claim. */
const maxBatch = 1_000;

/** Jobs are fetched ahead to cover this many milliseconds at the rate at which handlers recently finished jobs. */
const aheadMs = 50;

/**
 * Jobs fetched ahead that have not started after this many milliseconds are released: the jobs before them are taking
 * longer than the measured ones did, and other servers may be idle.
 */
const maxAheadMs = 500;

/** Interval between checks for jobs that were fetched ahead but have not started, in milliseconds. */
const checkAheadMs = 250;

/**
 * Polling interval in milliseconds while the server relies on notifications but may miss some, and after each notification.
 */
const alertPollMs = 200;

/**
 * Polling interval in milliseconds while notifications arrive and the last poll found nothing. Finds jobs whose
 * notification was never sent, because the process died that should have sent it.
 */
const idlePollMs = 2_000;

/** Timers may fire this much early, in milliseconds. */
const earlyMs = 5;

export interface FetcherOptions {
  readonly store: Claims;
  readonly queues: QueueOrder;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly queuePollIntervalMs: number;
  /** Whether the server is notified of all ready jobs. */
  readonly isNotified: () => boolean;
  /** Returns the server id to claim with; `null` while the server is not registered. */
  readonly serverId: () => string | null;
  /** Number of jobs that this server holds, running or waiting for a free slot. */
  readonly held: () => number;
  readonly take: (jobs: ClaimedJob[]) => void;
  /** Removes and returns the jobs that have been waiting for a free slot for at least `minWaitMs`. */
  readonly takeWaiting: (minWaitMs: number) => ClaimedJob[];
  /** Claims of the jobs that this server holds, and of those whose outcome is not written yet. */
  readonly claims: () => Iterable<Claim>;
}

/**
 * Claims ready jobs in batches. If handlers are slow, it claims no more jobs than can run at once, which leaves the
 * rest to other servers. If they are fast, it claims enough jobs ahead to hide the round trip to the storage.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  #finished = 0;
  #measuredAt = performance.now();
  #perMs = 0;
  #more = false;
  #pollAt = -Infinity;
  /** Queues that may have ready jobs. */
  readonly #ready = new Set<string>();
  /** Queues where a claim or a release failed. It may have been committed although the response was lost. */
  readonly #doubtful = new Set<string>();

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /**
   * Counts a finished job. Returns `true` if more jobs are ready and few are left here, so that it is time to fetch
   * again.
   */
  jobFinished(): boolean {
    this.#finished++;
    return this.#more && this.#options.held() <= this.#capacity() / 2;
  }

  /** Has the next round look at this queue or, with `null`, poll all of them. */
  notified(queue: string | null): void {
    if (queue === null) this.#pollAt = -Infinity;
    else this.#ready.add(queue);
  }

  /** Claims as many jobs as there is room for. Resolves to the milliseconds until the next poll. */
  async runOnce(): Promise<number> {
    const { queues, serverId, held, take } = this.#options;
    const id = serverId();
    if (id === null) return alertPollMs;
    this.#measure();
    this.#more = false;
    for (const queue of this.#doubtful) await this.#releaseUnknown(id, queue);
    const isPoll = performance.now() >= this.#pollAt - earlyMs;
    if (isPoll) await this.#poll(id);
    const isIdle = isPoll && this.#ready.size === 0;
    for (const queue of queues.next()) {
      if (!this.#ready.has(queue)) continue;
      const room = this.#capacity() - held();
      if (room <= 0) {
        this.#more = true;
        break;
      }
      const limit = Math.min(room, maxBatch);
      this.#ready.delete(queue); // a notification during the claim adds it again
      const jobs = await this.#claim(id, queue, limit);
      if (serverId() !== id) return alertPollMs; // declared dead during the claim: the jobs are no longer ours
      if (jobs.length > 0) take(jobs);
      if (jobs.length < limit) continue;
      this.#ready.add(queue);
      this.#more = true;
    }
    this.#planPoll(isIdle);
    if (this.#more && held() <= this.#capacity() / 2) return 0;
    return Math.max(0, this.#pollAt - performance.now());
  }

  /** Releases jobs fetched ahead that have waited too long. Resolves to the milliseconds until the next check. */
  async trim(): Promise<number> {
    const { takeWaiting, store } = this.#options;
    const claims = takeWaiting(maxAheadMs).map(({ claim }) => claim);
    if (claims.length === 0) return checkAheadMs;
    this.#perMs = 0;
    try {
      await store.release(claims);
    } catch (error) {
      for (const { queue } of claims) this.#doubtful.add(queue);
      throw error;
    }
    return checkAheadMs;
  }

  async #poll(serverId: string): Promise<void> {
    const { store, queues } = this.#options;
    this.#pollAt = Infinity; // a notification during the poll may set it
    try {
      for (const queue of await store.findReady(serverId, queues.names)) this.#ready.add(queue);
    } catch (error) {
      this.#pollAt = -Infinity;
      throw error;
    }
  }

  /** Plans the next poll, unless it is due earlier already. Claims may have missed jobs, so a poll soon follows. */
  #planPoll(isIdle: boolean): void {
    const { queuePollIntervalMs, isNotified } = this.#options;
    const intervalMs = queuePollIntervalMs || (isIdle && isNotified() ? idlePollMs : alertPollMs);
    this.#pollAt = Math.min(this.#pollAt, performance.now() + intervalMs);
  }

  async #claim(serverId: string, queue: string, limit: number): Promise<ClaimedJob[]> {
    const { store, leaseMs } = this.#options;
    try {
      return await store.claim({ serverId, queue, limit, leaseMs });
    } catch (error) {
      this.#doubtful.add(queue);
      this.#ready.add(queue);
      this.#pollAt = -Infinity;
      throw error;
    }
  }

  /**
   * Releases claims that are stored under this server's id but that it does not know of. Otherwise their jobs would
   * wait until the leases expire.
   */
  async #releaseUnknown(serverId: string, queue: string): Promise<void> {
    const { store, claims } = this.#options;
    const stored = await store.claimsOf(serverId, queue);
    const known = new Set([...claims()].map(({ jobId, attempt }) => `${jobId} ${attempt}`));
    const unknown = stored.filter(({ jobId, attempt }) => !known.has(`${jobId} ${attempt}`));
    if (unknown.length > 0) await store.release(unknown);
    this.#doubtful.delete(queue);
  }

  #capacity(): number {
    return this.#options.concurrency + Math.min(2 * maxBatch, Math.floor(this.#perMs * aheadMs));
  }

  #measure(): void {
    const now = performance.now();
    const elapsed = Math.max(now - this.#measuredAt, 1);
    this.#perMs = 0.5 * this.#perMs + 0.5 * (this.#finished / elapsed);
    this.#finished = 0;
    this.#measuredAt = now;
  }
}
