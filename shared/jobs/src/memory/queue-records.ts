import { TooManyQueuesError } from '../job/errors.js';
import { notPaused, type PauseState } from '../job/pause.js';
import type { StoredQueueInCode } from '../job/queue-in-code.js';
import { maxTokens, type RateLimit } from '../job/queue-limits.js';
import type { Clock } from '../job/clock.js';
import { idleQueueDays } from '../storage/maintenance.js';
import { ConcurrencyKeys } from './concurrency-keys.js';
import { ReadyQueue } from './ready-queue.js';

export interface QueueRecord {
  readonly createdAt: Date;
  readonly ready: ReadyQueue;
  pause: PauseState;
  concurrencyLimit: number | null;
  rateLimit: Required<RateLimit> | null;
  /** The settings in code, as they were last applied; `null` if no code defines any. */
  inCode: StoredQueueInCode | null;
  readonly bucket: TokenBucket;
  readonly keys: ConcurrencyKeys;
  /** Number of claimed jobs. They count towards `concurrencyLimit`. */
  running: number;
  /**
   * When a check first found the queue unused, in milliseconds since 1970. `null` before the first check, or if the
   * latest check found the queue in use, paused or with limits.
   */
  idleSince: number | null;
}

const idleMs = idleQueueDays * 86_400_000;

/** The queues. Each queue is created when it is first used. */
export class QueueRecords {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #queues = new Map<string, QueueRecord>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get all(): ReadonlyMap<string, QueueRecord> {
    return this.#queues;
  }

  /**
   * Checks that all these queues exist or can be created.
   *
   * @throws {TooManyQueuesError} if the maximum number of queues would be exceeded
   */
  requireRoomFor(names: Iterable<string>): void {
    const newNames = new Set<string>();
    for (const name of names) if (!this.#queues.has(name)) newNames.add(name);
    const [first = ''] = newNames;
    if (newNames.size > 0 && this.#queues.size + newNames.size > this.#max)
      throw new TooManyQueuesError(first, this.#max);
  }

  /**
   * Returns a queue, creating it if it does not exist.
   *
   * @throws {TooManyQueuesError} if a new queue would exceed the limit
   */
  get(name: string): QueueRecord {
    if (!this.#queues.has(name)) this.requireRoomFor([name]);
    return this.getBeyondLimit(name);
  }

  /**
   * Creates those of these queues that do not exist.
   *
   * @throws {TooManyQueuesError} before any queue is created, if they would exceed the limit
   */
  createAll(names: readonly string[]): void {
    this.requireRoomFor(names);
    for (const name of names) this.getBeyondLimit(name);
  }

  /** Returns a queue, creating it if it does not exist, even beyond the maximum number of queues. */
  getBeyondLimit(name: string): QueueRecord {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      const now = this.#clock.now();
      queue = {
        createdAt: new Date(now),
        ready: new ReadyQueue(),
        pause: notPaused,
        concurrencyLimit: null,
        rateLimit: null,
        inCode: null,
        bucket: new TokenBucket(now),
        keys: new ConcurrencyKeys(),
        running: 0,
        idleSince: null,
      };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  /** Deletes a queue. The queue must not contain unfinished jobs. */
  retire(name: string): void {
    this.#queues.delete(name);
  }

  /**
   * Deletes queues that have been unused for {@link idleQueueDays} days. Never deletes a queue that is paused, has limits
   * or has settings in code.
   *
   * @param isInUse returns whether a queue is in use now or has been used since `idleSince`
   */
  retireIdle(isInUse: (name: string, idleSince: number) => boolean): void {
    const now = this.#clock.now();
    for (const [name, queue] of this.#queues) {
      const { pause, concurrencyLimit, rateLimit, inCode, idleSince } = queue;
      const isSet =
        pause.pausedAt !== null || concurrencyLimit !== null || rateLimit !== null || inCode !== null;
      if (isSet || isInUse(name, idleSince ?? now)) queue.idleSince = null;
      else if (idleSince === null) queue.idleSince = now;
      else if (now - idleSince >= idleMs) this.retire(name);
    }
  }
}

/** The token bucket of a queue's rate limit. Callers pass the limit to each call, because operators can change it. */
export class TokenBucket {
  #tokens = maxTokens;
  #refilledAt: number;

  constructor(nowMs: number) {
    this.#refilledAt = nowMs;
  }

  /** Refills the bucket and returns the number of whole tokens in it. */
  available(limit: RateLimit, nowMs: number): number {
    this.#refill(limit, nowMs);
    // Rounding errors can leave the sum just below a whole token; 1e-6 compensates for this.
    return Math.floor(this.#tokens + 1e-6);
  }

  take(tokens: number): void {
    this.#tokens -= tokens;
  }

  /** Returns the milliseconds from the last refill until the bucket contains a whole token; 0 if it already does. */
  nextInMs({ jobs, periodMs }: RateLimit): number {
    return Math.max(0, ((1 - this.#tokens) * periodMs) / jobs);
  }

  #refill({ jobs, periodMs, burst = jobs }: RateLimit, nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#refilledAt);
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs * jobs) / periodMs);
    this.#refilledAt = nowMs;
  }
}
