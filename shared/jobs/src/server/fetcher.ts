import type { ClaimedJob } from '../job/job.js';
import type { JobStorage } from '../storage/storage.js';
import type { Holdings } from './holdings.js';
import { Loop } from './loop.js';
import type { Runner } from './runner.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Maximum number of jobs per claim. */
const maxBatch = 1_000;

/**
 * How much work to fetch ahead, in milliseconds. In addition to `concurrency` jobs, a server fetches as many jobs as
 * its handlers finish in this time at their recent rate.
 */
const aheadMs = 50;

/**
 * How long a job that was fetched ahead can wait to start, in milliseconds. After this time, the job is released,
 * because the running jobs take longer than expected and other servers may be idle.
 */
const maxAheadMs = 500;

/** Interval between checks for jobs that have waited longer than `maxAheadMs`, in milliseconds. */
const checkAheadMs = 250;

/** Polling interval in milliseconds while the server finds jobs, or while notifications do not arrive. */
const alertPollMs = 200;

/**
 * Polling interval in milliseconds if the last poll found nothing and notifications arrive. A poll also finds jobs
 * without a notification, for example if the enqueuing process died before it sent one.
 */
const idlePollMs = 2_000;

/** A round polls up to this many milliseconds before the next poll is due, because timers can fire early. */
const earlyMs = 5;

type FetchingOption =
  'queues' | 'concurrency' | 'logger' | 'queuePollIntervalMs' | 'slidingInvisibilityTimeoutMs';

export interface FetcherOptions extends Pick<ResolvedServerOptions, FetchingOption> {
  readonly storage: Pick<JobStorage, 'claims' | 'notificationsArrive'>;
  readonly holdings: Holdings;
  readonly runner: Pick<Runner, 'take' | 'takeWaiting'>;
  /** Returns whether to claim nothing for now. */
  readonly isPaused: () => boolean;
  /** Returns the time in milliseconds; by default, `performance.now()`. */
  readonly now?: () => number;
}

/**
 * Claims ready jobs in batches. If handlers are slow, claims only slightly more jobs than can run at once, and leaves
 * the rest to other servers. If handlers are fast, claims enough jobs ahead to hide the round trip to the storage.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #now: () => number;
  readonly #loop: Loop;
  #finished = 0;
  #measuredAt: number;
  #perMs = 0;
  #more = false;
  #isClaiming = false;
  #stopped = false;
  #pollAt = -Infinity;
  /** When the first request was sent since one last succeeded. */
  #unansweredAt: number | undefined;
  /** Queues that may have ready jobs. */
  readonly #ready = new Set<string>();
  /**
   * Queues in which a claim or a release failed. The storage may still have carried out the request, if only the
   * response was lost.
   */
  readonly #uncertain = new Set<string>();

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#measuredAt = this.#now();
    this.#loop = new Loop({
      task: 'fetching jobs',
      logger: options.logger,
      runOnce: () => this.runOnce(),
      floorMs: 5, // short, because jobs wait for it
    });
  }

  /** Begins to claim, unless the fetcher has been stopped. */
  start(): void {
    if (!this.#stopped) this.#loop.start();
  }

  /** Ends the current round after its pass over the queues. `isIdle` is `false` from now on. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop.stop();
  }

  /** Counts a finished job. Claims again if more jobs may be ready, and few are left on this server. */
  jobFinished(): void {
    this.#finished++;
    if (this.#more && this.#isHungry()) this.#loop.wake();
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /**
   * Whether nothing is left to claim, as far as the server knows. `false` during a claim, while claiming is paused, and
   * after it has stopped.
   */
  get isIdle(): boolean {
    const mayFindJobs = this.#more || this.#isClaiming || this.#ready.size > 0 || this.#uncertain.size > 0;
    return !this.#stopped && !mayFindJobs && !this.#options.isPaused();
  }

  /**
   * For how long the storage has answered none of the requests that claiming needs, or only with errors, in milliseconds; 0
   * while claiming advances, and after it has stopped.
   */
  get stalledMs(): number {
    return this.#stopped || this.#unansweredAt === undefined ? 0 : this.#now() - this.#unansweredAt;
  }

  /** Releases the leases in this queue that the server does not know about, and polls all queues. */
  uncertain(queue: string): void {
    this.#doubt(queue);
    this.#loop.wake();
  }

  /**
   * Claims from this queue within this time. With `null`, makes sure that a round starts within this time, and that it polls
   * all queues if that is now.
   */
  notified(queue: string | null, withinMs = 0): void {
    if (queue !== null) this.#ready.add(queue);
    else if (withinMs === 0) this.#pollAt = -Infinity;
    this.#loop.notified(withinMs);
  }

  /** Polls all queues, and claims what is found. Resolves when the round has ended. */
  async poll(): Promise<void> {
    this.#pollAt = -Infinity;
    await this.#loop.round();
  }

  /**
   * Claims jobs until the server has enough, no queue has any left, or the next poll is due. Handlers run the jobs of
   * one claim while the storage processes the next claim. Resolves to the time until the next round, in milliseconds.
   */
  async runOnce(): Promise<number> {
    const { queues, queuePollIntervalMs, holdings, runner, isPaused } = this.#options;
    const id = holdings.serverId;
    if (id === null || isPaused()) return alertPollMs;
    for (const queue of this.#uncertain) await this.#releaseUnknown(id, queue);
    const startedAt = this.#now();
    const isPoll = startedAt >= this.#pollAt - earlyMs;
    if (isPoll) await this.#findReady(id);
    const isIdle = isPoll && this.#ready.size === 0;
    const endAt = startedAt + (queuePollIntervalMs || alertPollMs);
    /**
     * Claimed jobs that start after the next claim has been sent. If they started earlier, their handlers could block
     * the event loop and delay the claim.
     */
    let deferred: ClaimedJob[] = [];
    do {
      this.#measure();
      this.#more = false;
      for (const queue of queues.next()) {
        if (!this.#ready.has(queue)) continue;
        const limit = this.#limit(deferred.length);
        if (limit <= 0) {
          this.#more = true;
          break;
        }
        this.#ready.delete(queue); // a notification during the claim adds it again
        const claiming = this.#claim(id, queue, limit);
        if (deferred.length > 0) {
          claiming.catch(() => undefined); // the `await` below rethrows the error
          await requestSent();
          if (holdings.serverId === id) runner.take(deferred);
          deferred = [];
        }
        const jobs = await claiming;
        if (holdings.serverId !== id) return alertPollMs; // declared dead during the claim, so the leases are lost
        if (jobs.length < limit) {
          if (jobs.length > 0) runner.take(jobs);
          continue;
        }
        deferred = jobs;
        this.#ready.add(queue);
        this.#more = true;
      }
    } while (this.#continues(deferred.length, endAt));
    if (deferred.length > 0) runner.take(deferred);
    this.#planPoll(startedAt, isIdle);
    if (this.#more && this.#isHungry()) return 0;
    return Math.max(0, this.#pollAt - this.#now());
  }

  /**
   * Releases jobs that were fetched ahead and have waited for at least {@link maxAheadMs}. Resolves to the milliseconds
   * until the next check.
   */
  async trim(): Promise<number> {
    const { runner, storage } = this.#options;
    const claims = runner.takeWaiting(maxAheadMs).map(({ claim }) => claim);
    if (claims.length === 0) return checkAheadMs;
    this.#perMs = 0;
    try {
      await storage.claims.release(claims);
    } catch (error) {
      for (const { queue } of claims) this.#uncertain.add(queue);
      throw error;
    }
    return checkAheadMs;
  }

  async #findReady(serverId: string): Promise<void> {
    const { storage, queues } = this.#options;
    this.#pollAt = Infinity; // a notification during the poll resets this, so that another poll follows
    try {
      for (const queue of await this.#answered(storage.claims.findReady(serverId, queues.names)))
        this.#ready.add(queue);
    } catch (error) {
      this.#pollAt = -Infinity;
      throw error;
    }
  }

  /**
   * Schedules the next poll, unless an earlier one is planned. The interval is `queuePollIntervalMs` if that is not 0,
   * {@link idlePollMs} if this round's poll found nothing and notifications arrive, and {@link alertPollMs} otherwise.
   */
  #planPoll(startedAt: number, isIdle: boolean): void {
    const { queuePollIntervalMs, storage } = this.#options;
    const isRare = isIdle && storage.notificationsArrive;
    const intervalMs = queuePollIntervalMs || (isRare ? idlePollMs : alertPollMs);
    this.#pollAt = Math.min(this.#pollAt, startedAt + intervalMs);
  }

  /** Returns whether to claim again in this round. */
  #continues(deferred: number, endAt: number): boolean {
    if (!this.#more || this.#stopped || this.#now() >= Math.min(endAt, this.#pollAt)) return false;
    return this.#isHungry(deferred);
  }

  async #claim(serverId: string, queue: string, limit: number): Promise<ClaimedJob[]> {
    const { storage, slidingInvisibilityTimeoutMs: leaseMs } = this.#options;
    this.#isClaiming = true;
    try {
      return await this.#answered(storage.claims.claim({ serverId, queue, limit, leaseMs }));
    } catch (error) {
      this.#doubt(queue);
      this.#ready.add(queue);
      throw error;
    } finally {
      this.#isClaiming = false;
    }
  }

  /**
   * Releases claims that the storage has for this server but that this process does not know about. Otherwise, their
   * jobs would not run until the leases expire.
   */
  async #releaseUnknown(serverId: string, queue: string): Promise<void> {
    const { storage, holdings } = this.#options;
    const stored = await this.#answered(storage.claims.claimsOf(serverId, queue));
    const claims = [...holdings.leases(), ...holdings.reserved.values()];
    const claimKeys = new Set(claims.map(({ jobId, attempt }) => `${jobId} ${attempt}`));
    const unknown = stored.filter(({ jobId, attempt }) => !claimKeys.has(`${jobId} ${attempt}`));
    if (unknown.length > 0) await storage.claims.release(unknown);
    this.#uncertain.delete(queue);
  }

  /** Notes when the request is sent and whether it succeeds, see {@link stalledMs}. */
  async #answered<Answer>(request: Promise<Answer>): Promise<Answer> {
    this.#unansweredAt ??= this.#now();
    const answer = await request;
    this.#unansweredAt = undefined;
    return answer;
  }

  #doubt(queue: string): void {
    this.#uncertain.add(queue);
    this.#pollAt = -Infinity;
  }

  /** Returns whether few jobs are left on this server. */
  #isHungry(deferred = 0): boolean {
    return this.#options.holdings.taken + deferred <= this.#capacity() / 2;
  }

  #capacity(): number {
    return this.#options.concurrency + Math.min(2 * maxBatch, Math.floor(this.#perMs * aheadMs));
  }

  /**
   * Returns how many jobs to claim next, at most `maxBatch`; zero or negative if there is no free capacity. A claim
   * takes at most half of the capacity, so that two claims can overlap, or `concurrency` jobs if that is more.
   */
  #limit(deferred: number): number {
    const capacity = this.#capacity();
    const half = Math.max(this.#options.concurrency, Math.ceil(capacity / 2));
    return Math.min(capacity - this.#options.holdings.taken - deferred, half, maxBatch);
  }

  #measure(): void {
    const now = this.#now();
    const elapsed = Math.max(now - this.#measuredAt, 1);
    this.#perMs = 0.5 * this.#perMs + 0.5 * (this.#finished / elapsed);
    this.#finished = 0;
    this.#measuredAt = now;
  }
}

/** Resolves after the storage client has had a chance to send the pending request. */
function requestSent(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
