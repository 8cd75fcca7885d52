import type { Queue } from '../job/job.js';
import type { QueueLimits } from '../job/queue-limits.js';

/** What operators set of a queue. */
export type QueueSettings = Pick<Queue, 'pausedAt' | 'concurrencyLimit' | 'rateLimit'>;

/**
 * Reads and controls queues. The controls create a queue that does not exist. Given `seen`, they act only while its settings
 * are still those, and otherwise change nothing and resolve to `false`.
 */
export interface Queues {
  /** `null` if there is no such queue. */
  find(name: string): Promise<Queue | null>;
  /** All queues, by name. */
  list(): Promise<Queue[]>;
  /** Stops servers from claiming jobs of a queue; running jobs will finish. */
  pause(name: string, seen?: QueueSettings): Promise<boolean>;
  /** The opposite of {@link pause}. */
  resume(name: string, seen?: QueueSettings): Promise<boolean>;
  /**
   * Sets or removes limits of a queue, for all servers from their next claim on; running jobs will finish.
   *
   * @throws {RangeError} if a number is out of its bounds
   */
  limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean>;
}
