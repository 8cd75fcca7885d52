import type { RateLimit } from '../../job/queue-limits.js';
import type { Clock } from '../clock.js';
import { ConcurrencyKeys } from './concurrency-keys.js';
import { ReadyLine } from './ready-line.js';
import { TokenBucket } from './token-bucket.js';

export interface QueueRecord {
  readonly createdAt: Date;
  readonly line: ReadyLine;
  pausedAt: Date | null;
  concurrencyLimit: number | null;
  rateLimit: Required<RateLimit> | null;
  readonly bucket: TokenBucket;
  readonly keys: ConcurrencyKeys;
  /** Jobs that servers hold. */
  running: number;
}

/** The queues of one process. */
export class MemoryQueues {
  readonly #clock: Clock;
  readonly #queues = new Map<string, QueueRecord>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): ReadonlyMap<string, QueueRecord> {
    return this.#queues;
  }

  /** A queue comes into being when it is first named. */
  get(name: string): QueueRecord {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      const now = this.#clock.now();
      queue = {
        createdAt: new Date(now),
        line: new ReadyLine(),
        pausedAt: null,
        concurrencyLimit: null,
        rateLimit: null,
        bucket: new TokenBucket(now),
        keys: new ConcurrencyKeys(),
        running: 0,
      };
      this.#queues.set(name, queue);
    }
    return queue;
  }
}
