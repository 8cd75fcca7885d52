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

/** Interval between checks for jobs that were fetched ahead and have not started, in milliseconds. */
const checkAheadMs = 250;

/** Polling interval in milliseconds while notifications do not arrive reliably, and after each notification. */
const alertPollMs = 200;

/**
 * Polling interval in milliseconds while notifications arrive and the last poll found nothing. Finds jobs whose notification
 * was never sent because the process that should have sent it died.
 */
const idlePollMs = 2_000;

/** Timers may fire early by this many milliseconds. */
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
  #stopped = false;
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

  /** Makes the next round claim from this queue or, with `null`, poll all queues. */
  notified(queue: string | null): void {
    if (queue === null) this.#pollAt = -Infinity;
    else this.#ready.add(queue);
  }

  /**
   * Claims until there is no room or work left, or a poll is due. Handlers run the jobs of one claim while the storage
   * processes the next claim. Resolves to the milliseconds until the next round.
   */
  async runOnce(): Promise<number> {
    const { queues, queuePollIntervalMs, serverId, held, take } = this.#options;
    const id = serverId();
    if (id === null) return alertPollMs;
    for (const queue of this.#doubtful) await this.#releaseUnknown(id, queue);
    const startedAt = performance.now();
    const isPoll = startedAt >= this.#pollAt - earlyMs;
    if (isPoll) await this.#poll(id);
    const isIdle = isPoll && this.#ready.size === 0;
    const endAt = startedAt + (queuePollIntervalMs || alertPollMs);
    /** Claimed jobs that are held back until the next claim has been sent, because their handlers may block the event loop. */
    let kept: ClaimedJob[] = [];
    do {
      this.#measure();
      this.#more = false;
      for (const queue of queues.next()) {
        if (!this.#ready.has(queue)) continue;
        const limit = this.#limit(kept.length);
        if (limit <= 0) {
          this.#more = true;
          break;
        }
        this.#ready.delete(queue); // a notification during the claim adds it again
        const claiming = this.#claim(id, queue, limit);
        if (kept.length > 0) {
          claiming.catch(() => undefined); // reported below
          await requestSent();
          if (serverId() === id) take(kept);
          kept = [];
        }
        const jobs = await claiming;
        if (serverId() !== id) return alertPollMs; // declared dead during the claim: the jobs are no longer ours
        if (jobs.length < limit) {
          if (jobs.length > 0) take(jobs);
          continue;
        }
        kept = jobs;
        this.#ready.add(queue);
        this.#more = true;
      }
    } while (this.#continues(kept.length, endAt));
    if (kept.length > 0) take(kept);
    this.#planPoll(startedAt, isIdle);
    if (this.#more && held() <= this.#capacity() / 2) return 0;
    return Math.max(0, this.#pollAt - performance.now());
  }

  /** Ends the current round after the claim in progress. */
  stop(): void {
    this.#stopped = true;
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

  /**
   * Schedules the next poll, unless an earlier one is planned. The interval is long after a round that found
   * nothing, if notifications arrive, and short after any other round, because its claims may have missed jobs.
   */
  #planPoll(startedAt: number, isIdle: boolean): void {
    const { queuePollIntervalMs, isNotified } = this.#options;
    const intervalMs = queuePollIntervalMs || (isIdle && isNotified() ? idlePollMs : alertPollMs);
    this.#pollAt = Math.min(this.#pollAt, startedAt + intervalMs);
  }

  /** Returns whether to claim again in this round. */
  #continues(kept: number, endAt: number): boolean {
    if (!this.#more || this.#stopped || performance.now() >= Math.min(endAt, this.#pollAt)) return false;
    return this.#options.held() + kept <= this.#capacity() / 2;
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
   * Releases claims that are stored under this server's id although the server does not know of them. Otherwise their
   * jobs would wait until the leases expire.
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

  /** Returns how many jobs to claim next: at most half of the capacity, so that two claims can overlap. */
  #limit(kept: number): number {
    const capacity = this.#capacity();
    const half = Math.max(this.#options.concurrency, Math.ceil(capacity / 2));
    return Math.min(capacity - this.#options.held() - kept, half, maxBatch);
  }

  #measure(): void {
    const now = performance.now();
    const elapsed = Math.max(now - this.#measuredAt, 1);
    this.#perMs = 0.5 * this.#perMs + 0.5 * (this.#finished / elapsed);
    this.#finished = 0;
    this.#measuredAt = now;
  }
}

/** Resolves after the storage has had a chance to send the pending request. */
function requestSent(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
