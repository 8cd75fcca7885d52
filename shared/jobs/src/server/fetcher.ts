import type { Claim, ClaimedJob } from '../job/job.js';
import type { Claims } from '../storage/claims.js';
import type { QueueOrder } from './queue-order.js';

/** More than this is claimed in several round trips. */
const maxBatch = 1_000;

/** As much work is fetched ahead as the handlers have lately done in this time. */
const aheadMs = 50;

/**
 * Jobs fetched ahead are given back when they have not started after this: the jobs before them take longer than those by
 * which the need was measured, and other servers may be idle.
 */
const maxAheadMs = 500;

/** How often it is checked for such jobs. */
const checkAheadMs = 250;

/** The safety net for lost wake-ups when the server otherwise waits for them. */
const safetyPollMs = 200;

export interface FetcherOptions {
  readonly store: Claims;
  readonly queues: QueueOrder;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly queuePollIntervalMs: number;
  /** The server to claim for; `null` while it is not registered. */
  readonly serverId: () => string | null;
  /** Jobs held now. */
  readonly held: () => number;
  readonly take: (jobs: ClaimedJob[]) => void;
  /** Hands back the jobs that have waited at least so long for a free slot. */
  readonly giveBack: (minWaitMs: number) => ClaimedJob[];
  /** Claims of jobs held now, and of those whose outcome is still to be written. */
  readonly claims: () => Iterable<Claim>;
}

/**
 * Claims ready jobs in batches. Handlers that take long get no more jobs than can run, so that other servers may
 * have the rest; quick ones get enough in advance to hide the round trip.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  #finished = 0;
  #measuredAt = performance.now();
  #perMs = 0;
  #more = false;
  /** Queues where a claim failed: it may have been made, and only its answer lost. */
  readonly #doubtful = new Set<string>();

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** Counts a finished job. Returns whether it is time to fetch again. */
  jobFinished(): boolean {
    this.#finished++;
    return this.#more && this.#options.held() <= this.#capacity() / 2;
  }

  /** Claims what there is room for. Resolves to the milliseconds until the next look. */
  async runOnce(): Promise<number> {
    const { queues, queuePollIntervalMs, serverId, held, take } = this.#options;
    const id = serverId();
    if (id === null) return safetyPollMs;
    this.#measure();
    this.#more = false;
    for (const queue of this.#doubtful) await this.#giveBackUnknown(id, queue);
    for (const queue of queues.next()) {
      const room = this.#capacity() - held();
      if (room <= 0) {
        this.#more = true;
        break;
      }
      const limit = Math.min(room, maxBatch);
      const jobs = await this.#claim(id, queue, limit);
      if (serverId() !== id) return safetyPollMs; // declared dead meanwhile: these jobs are others' by now
      if (jobs.length > 0) take(jobs);
      if (jobs.length === limit) this.#more = true;
    }
    if (this.#more && held() <= this.#capacity() / 2) return 0;
    return queuePollIntervalMs || safetyPollMs;
  }

  /** Gives back what was fetched ahead in vain. Resolves to the milliseconds until the next check. */
  async trim(): Promise<number> {
    const { giveBack, store } = this.#options;
    const claims = giveBack(maxAheadMs).map(({ claim }) => claim);
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

  async #claim(serverId: string, queue: string, limit: number): Promise<ClaimedJob[]> {
    const { store, leaseMs } = this.#options;
    try {
      return await store.claim({ serverId, queue, limit, leaseMs });
    } catch (error) {
      this.#doubtful.add(queue);
      throw error;
    }
  }

  /** Jobs whose claim this server does not know of would else wait for the end of their lease. */
  async #giveBackUnknown(serverId: string, queue: string): Promise<void> {
    const { store, claims } = this.#options;
    const kept = await store.claimsOf(serverId, queue);
    const known = new Set([...claims()].map(({ jobId, attempt }) => `${jobId} ${attempt}`));
    const unknown = kept.filter(({ jobId, attempt }) => !known.has(`${jobId} ${attempt}`));
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
